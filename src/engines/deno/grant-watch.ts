import type { BorderHost, BorderWorkspace } from '../border.ts';
import type { FileStop } from '../guest/turn-outcome.ts';
import { type FileFlags, fileFlagsOf, noFiles } from './deno-flags.ts';
import { scanWorkspace, type WorkspaceScan } from './workspace-scan.ts';

/** How often a running call is asked whether its files are still granted and within the quota, in ms. */
const lookMs = 500;

/** The files that a call may touch now; `notes` say what it does not get although it is granted. */
export async function readFileFlags(
  host: BorderHost,
  forbidden: readonly string[],
): Promise<{ readonly files: FileFlags; readonly notes: readonly string[] }> {
  const workspace = await host.workspace?.();
  if (!workspace || workspace.read.length + workspace.write.length === 0) return { files: noFiles, notes: [] };
  const scan = await scanWorkspace(workspace.dir);
  const files = scan.isWhole ? fileFlagsOf(workspace, forbidden, scan) : undefined;
  if (!files)
    return {
      files: noFiles,
      notes: [
        'Files are not opened directly here: the workspace holds too much, or links whose names cannot be barred. context.files works.',
      ],
    };
  if (files.write.length === 0 || !isFull(workspace, scan)) return { files, notes: [] };
  const note = `The workspace holds ${scan.bytes} bytes and may hold ${workspace.quotaBytes}: nothing is written directly; delete with context.files.`;
  return { files: { ...files, write: [] }, notes: [note] };
}

/** Watches a call whose process was started with files: flags cannot be taken back, so the process must end. */
export function watchFiles(host: BorderHost, files: FileFlags): { readonly stop: AbortSignal; close(): void } {
  const controller = new AbortController();
  if (files.read.length + files.write.length === 0) return { stop: controller.signal, close: () => undefined };
  const before = host.workspace?.();
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const reason = await findReason(host, await before, files).catch((): FileStop => 'revoked');
    if (reason !== undefined) controller.abort(reason);
    else if (timer !== undefined) timer = setTimeout(look, lookMs);
  };
  timer = setTimeout(look, lookMs);
  return {
    stop: controller.signal,
    close: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

async function findReason(
  host: BorderHost,
  before: BorderWorkspace | undefined,
  files: FileFlags,
): Promise<FileStop | undefined> {
  const now = await host.workspace?.();
  if (!now || !before || isLess(now.read, before.read) || isLess(now.write, before.write)) return 'revoked';
  return files.write.length > 0 && isFull(now, await scanWorkspace(now.dir)) ? 'quota' : undefined;
}

function isFull({ quotaBytes }: BorderWorkspace, scan: WorkspaceScan): boolean {
  return quotaBytes !== undefined && scan.bytes > quotaBytes;
}

function isLess(now: readonly string[], before: readonly string[]): boolean {
  return before.some((path) => !now.includes(path));
}
