import { join, resolve, sep } from 'node:path';
import type { BorderWorkspace } from '../border.ts';

/** Files of the caller that a process may touch by itself; absolute real paths. */
export interface FileFlags {
  readonly cwd: string | undefined;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly deny: readonly string[];
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
export const noFiles: FileFlags = { cwd: undefined, read: [], write: [], deny: [] };

/** The granted paths of a workspace as Deno's flags; what leads out of it, or cannot be said in a flag, is left out. */
export function fileFlagsOf(workspace: BorderWorkspace | undefined, forbidden: readonly string[]): FileFlags {
  if (!workspace || workspace.read.length + workspace.write.length === 0) return noFiles;
  const { dir } = workspace;
  const inside = (paths: readonly string[]) => [...new Set(paths.flatMap((path) => pathIn(dir, path) ?? []))].sort();
  return {
    cwd: dir,
    read: inside(workspace.read),
    write: inside(workspace.write),
    deny: forbidden.map((name) => join(dir, name)),
  };
}

/** The same for equal flags: processes with equal keys are interchangeable. */
export function keyOfFlags({ cwd, read, write }: FileFlags): string {
  return JSON.stringify([cwd ?? '', read, write]);
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
    ...(files.read.length > 0 ? list('deny-read', files.deny) : []),
    ...(files.write.length > 0 ? list('deny-write', files.deny) : []),
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
