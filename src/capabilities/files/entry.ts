import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { readErrorCode } from '../../errors/system-error.ts';
import type { Folder } from './folder.ts';

/** What a name in a workspace is. Links, devices, pipes and sockets are `other`. */
export type EntryType = 'file' | 'folder' | 'other';

/** Looks at a name without following it; undefined when there is nothing. */
export async function findEntry(folder: Folder, name: string): Promise<Stats | undefined> {
  try {
    return await lstat(folder.pathTo(name));
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Sorts what `lstat` or a listing says. */
export function sortEntry(entry: Pick<Stats, 'isFile' | 'isDirectory'>): EntryType {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'folder' : 'other';
}

/**
 * Opens a regular file by its name in an open folder. The check is made on the open file, so nothing can be put in its
 * place in between; a pipe or device does not hold the daemon up, because the open itself never waits.
 */
export async function openRegularFile(folder: Folder, name: string, flags: number): Promise<FileHandle> {
  const handle = await open(folder.pathTo(name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY, 0o600);
  try {
    requireOwnFile(await handle.stat(), name);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws unless it is a regular file with one name: a second name may lie outside the workspace. */
export function requireOwnFile(stats: Stats, name: string): void {
  if (stats.isDirectory()) throw new HotcellError('file-failed', `"${name}" is a folder, not a file.`);
  if (!stats.isFile()) throw refuse(name, 'is no regular file; links, devices and pipes are not opened');
  if (stats.nlink > 1) throw refuse(name, 'is a hard link; it may have another name outside the workspace');
}

function refuse(name: string, reason: string): HotcellError {
  return new HotcellError('file-refused', `"${name}" ${reason}.`, { fix: 'Use a regular file inside the workspace.' });
}
