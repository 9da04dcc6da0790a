import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isForbiddenSegment } from '../../../permissions/forbidden-segments.ts';

/** What lies in a workspace, as far as it matters to a process that opens files by itself. */
export interface WorkspaceScan {
  /** What no process may open: links, hard links, special files, and names that no path may hold; absolute paths. */
  readonly barred: readonly string[];
  /** Of these, the ones whose name no path may hold. */
  readonly forbidden: readonly string[];
  /** The folders above these: whoever may rename one of them gets at what lies in it. */
  readonly above: readonly string[];
  /** Bytes, 1024 for every entry included. */
  readonly bytes: number;
  /** False when there is too much to look at all of it. */
  readonly isWhole: boolean;
}

/** What an entry counts beside its bytes; the same as for `context.files`. */
const entryBytes = 1024;
const maxEntries = 20_000;
const deepest = 64;
const maxBarred = 300;

/** Looks at everything in a workspace; follows no link. What goes away meanwhile is passed over. */
export async function scanWorkspace(dir: string): Promise<WorkspaceScan> {
  const barred: string[] = [];
  const forbidden: string[] = [];
  let entries = 0;
  let bytes = 0;
  const visit = async (folder: string, depth: number): Promise<boolean> => {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])) {
      const path = join(folder, entry.name);
      if (++entries > maxEntries || barred.length > maxBarred || depth > deepest) return false;
      const stats = await lstat(path).catch(() => undefined);
      bytes += entryBytes + (stats?.isFile() ? stats.size : 0);
      const isForbidden = isForbiddenSegment(entry.name);
      if (isForbidden) forbidden.push(path);
      if (isForbidden || (stats && isBarred(stats))) barred.push(path);
      if (stats?.isDirectory() && !(await visit(path, depth + 1))) return false;
    }
    return true;
  };
  const isWhole = await visit(dir, 0);
  return { barred, forbidden, above: [...new Set(barred.flatMap((path) => foldersAbove(dir, path)))], bytes, isWhole };
}

/** A link may lead anywhere, a file with two names may have the other one outside, and what is no file may hang. */
function isBarred(stats: Stats): boolean {
  return !stats.isDirectory() && (!stats.isFile() || stats.nlink > 1);
}

function foldersAbove(dir: string, path: string): string[] {
  const folder = dirname(path);
  return folder === dir || folder.length <= dir.length ? [] : [folder, ...foldersAbove(dir, folder)];
}
