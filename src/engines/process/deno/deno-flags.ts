import { join, resolve, sep } from 'node:path';
import type { BorderWorkspace } from '../../../border/border.ts';
import type { WorkspaceScan } from './workspace-scan.ts';

/** Files of the caller that a process may touch by itself; absolute paths. What is denied wins. */
export interface FileFlags {
  readonly cwd: string | undefined;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
  /** The largest file that it may write, in bytes. */
  readonly maxFileBytes?: number;
}

/** What a process is started with. */
export interface DenoStart {
  /** The guest's runner: the main module, which Deno loads without a permission. */
  readonly runner: string;
  readonly files: FileFlags;
  /** Upper bound of the JavaScript heap. */
  readonly heapMb: number;
}

/** No file at all. */
export const noFiles: FileFlags = { cwd: undefined, read: [], write: [], denyRead: [], denyWrite: [] };

/** More than the system takes as one argument is not said in a flag. */
const maxFlagChars = 100_000;

/**
 * The granted paths of a workspace as Deno's flags, but for what must not be opened. What leads out of the workspace, or cannot be
 * said in a flag, is left out; undefined when what is barred cannot be said.
 */
export function fileFlagsOf(
  { dir, read, write, maxFileBytes }: BorderWorkspace,
  forbidden: readonly string[],
  { barred, above }: Pick<WorkspaceScan, 'barred' | 'above'>,
): FileFlags | undefined {
  const inside = (paths: readonly string[], denied: readonly string[]) =>
    [...new Set(paths.flatMap((path) => pathIn(dir, path) ?? []))]
      .filter((path) => !denied.some((each) => path === each || path.startsWith(each + sep)))
      .sort();
  const denyRead = [...forbidden.map((name) => join(dir, name)), ...barred];
  const denyWrite = [...denyRead, ...above];
  const isSayable = denyWrite.every((path) => !path.includes(',')) && denyWrite.join().length < maxFlagChars;
  if (!isSayable) return undefined;
  const size = maxFileBytes === undefined ? {} : { maxFileBytes };
  return { cwd: dir, read: inside(read, denyRead), write: inside(write, denyWrite), denyRead, denyWrite, ...size };
}

/** The same for equal flags: processes with equal keys are interchangeable. */
export function keyOfFlags({ cwd, read, write, denyRead, denyWrite }: FileFlags): string {
  return JSON.stringify([cwd ?? '', read, write, denyRead, denyWrite]);
}

/** The arguments of `deno`: everything is denied but what stands here, and nothing is ever asked of a terminal. */
export function denoArguments({ runner, files, heapMb }: DenoStart): string[] {
  const list = (flag: string, paths: readonly string[]) => (paths.length === 0 ? [] : [`--${flag}=${paths.join(',')}`]);
  return [
    'run',
    '--quiet',
    '--no-prompt',
    '--no-config',
    '--no-lock',
    '--no-npm',
    '--no-remote',
    '--cached-only',
    '--no-check',
    '--no-code-cache',
    '--node-modules-dir=none',
    '--deny-net',
    '--deny-env',
    '--deny-run',
    '--deny-ffi',
    '--deny-import',
    // The list of the usual certificate authorities, which TLS is checked with; nothing else of the machine.
    '--allow-sys=ca',
    ...list('allow-read', files.read),
    ...list('allow-write', files.write),
    ...(files.read.length > 0 ? list('deny-read', files.denyRead) : []),
    ...(files.write.length > 0 ? list('deny-write', files.denyWrite) : []),
    `--v8-flags=--max-old-space-size=${heapMb}`,
    runner,
  ];
}

// A comma would start another path of the flag.
function pathIn(dir: string, path: string): string | undefined {
  const whole = resolve(dir, path);
  const isInside = whole === dir || whole.startsWith(dir + sep);
  return isInside && !whole.includes(',') ? whole : undefined;
}
