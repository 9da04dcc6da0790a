import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { BorderHost, BorderWorkspace } from '../../../border/border.ts';
import type { FileStop } from '../guest-call-outcome.ts';
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

/**
 * Watches a call whose process was started with files: flags cannot be taken back, so the process must end. Deno's flags name
 * paths, not names in any case and depth: what the guest wrote under a forbidden name gets another one when it is closed, which
 * answers `forbidden` then. The process must not run any more by that time.
 */
export function watchFiles(
  host: BorderHost,
  files: FileFlags,
): { readonly stop: AbortSignal; close(): Promise<FileStop | undefined> } {
  const controller = new AbortController();
  if (files.read.length + files.write.length === 0) return { stop: controller.signal, close: async () => undefined };
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
    async close() {
      clearTimeout(timer);
      timer = undefined;
      const dir = (await before?.catch(() => undefined))?.dir;
      return dir !== undefined && (await setForbiddenAside(dir, files)) ? 'forbidden' : undefined;
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
  if (files.write.length === 0) return undefined;
  const scan = await scanWorkspace(now.dir);
  if (findNewlyForbidden(scan, files).length > 0) return 'forbidden';
  return isFull(now, scan) ? 'quota' : undefined;
}

/** What was there before the call could not be written by it. */
function findNewlyForbidden({ forbidden }: WorkspaceScan, { denyWrite }: FileFlags): string[] {
  return forbidden.filter((path) => !denyWrite.includes(path));
}

/** Renames what the guest wrote under a forbidden name, the deepest first; true when there was any. */
async function setForbiddenAside(dir: string, files: FileFlags): Promise<boolean> {
  if (files.write.length === 0) return false;
  const written = findNewlyForbidden(await scanWorkspace(dir), files);
  for (const path of written.reverse()) {
    const name = `refused-${basename(path).replace(/^[^\w]+/, '')}-${randomBytes(4).toString('hex')}`;
    await rename(path, join(dirname(path), name)).catch(() => undefined);
  }
  return written.length > 0;
}

function isFull({ quotaBytes }: BorderWorkspace, scan: WorkspaceScan): boolean {
  return quotaBytes !== undefined && scan.bytes > quotaBytes;
}

function isLess(now: readonly string[], before: readonly string[]): boolean {
  return before.some((path) => !now.includes(path));
}
