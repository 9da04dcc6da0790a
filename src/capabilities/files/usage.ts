import { opendir } from 'node:fs/promises';
import { BoundedMap } from '../../collections/bounded-map.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { findEntry } from './entry.ts';
import { type Folder, openFolder } from './folder.ts';

/** What a file or folder counts beside its bytes, so that empty ones are not free. */
export const entryBytes = 1024;

const rememberedWorkspaces = 1000;
const remeasureAfterMs = 5000;
const maxEntries = 200_000;
const deepest = 64;

/** Keeps the size of every workspace within its quota. Callers make changes to one workspace one after the other. */
export type Usage = ReturnType<typeof createUsage>;

/** Counts what workspaces hold. A workspace is measured when it is first changed, and again when it seems full. */
export function createUsage(options: { readonly quotaBytes: number; readonly now: () => number }) {
  const { quotaBytes, now } = options;
  const measuredByWorkspace = new BoundedMap<string, { bytes: number; readonly atMs: number }>(rememberedWorkspaces);
  const measure = async (workspace: string, root: Folder) => {
    const measured = { bytes: await measureFolder(root), atMs: now() };
    measuredByWorkspace.set(workspace, measured);
    return measured;
  };
  return {
    /** Somebody else may change the workspace: it is measured again. */
    forget: (workspace: string): void => void measuredByWorkspace.delete(workspace),
    /** Books bytes before they are written, or gives them back with a negative number. Throws `quota-exceeded`. */
    book: async (workspace: string, root: Folder, bytes: number): Promise<void> => {
      let measured = measuredByWorkspace.get(workspace) ?? (await measure(workspace, root));
      // Others may have tidied up: an operator, or a program in a container.
      if (measured.bytes + bytes > quotaBytes && now() - measured.atMs > remeasureAfterMs)
        measured = await measure(workspace, root);
      if (bytes > 0 && measured.bytes + bytes > quotaBytes) {
        throw new HotcellError('quota-exceeded', `The workspace may hold ${quotaBytes} bytes; this does not fit.`, {
          fix: 'Delete files that are not needed, or raise files.workspaceQuotaBytes in the config.',
        });
      }
      measured.bytes = Math.max(0, measured.bytes + bytes);
    },
  };
}

/** Bytes of everything in a folder, entries included; follows no link. Endless when there is too much to count. */
async function measureFolder(root: Folder): Promise<number> {
  let entries = 0;
  const visit = async (folder: Folder, depth: number): Promise<number> => {
    let bytes = 0;
    for await (const entry of await opendir(folder.pathTo('.'))) {
      if (++entries > maxEntries || depth > deepest) return Number.POSITIVE_INFINITY;
      bytes += entryBytes;
      if (entry.isFile()) bytes += (await findEntry(folder, entry.name))?.size ?? 0;
      if (entry.isDirectory()) {
        await using child = await openFolder(folder, [entry.name]);
        bytes += await visit(child, depth + 1);
      }
    }
    return bytes;
  };
  return visit(root, 0);
}
