import { constants, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { readErrorCode } from '../../errors/system-error.ts';

/**
 * An open folder. What is done in it goes through the open handle, not through its path: moving the folder or putting a
 * link in its place changes nothing for whoever holds it.
 */
export interface Folder extends AsyncDisposable {
  /** The path that reaches `name` in this very folder; `name` is one name, checked before. */
  pathTo(name: string): string;
}

// Linux resolves /proc/self/fd/N/name from the open folder N, which is what openat(2) does. Elsewhere the path stands in:
// links are refused just the same, but a program that swaps folders at the right moment is not held off.
const canReachByHandle = existsSync('/proc/self/fd');
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens a folder that the daemon itself names, and makes it first where there is none. */
export async function openRootFolder(path: string): Promise<Folder> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  return wrap(await open(path, folderFlags), path);
}

/**
 * Opens a folder that the operator named by its real path. It must still be that very path: a link that took the place of
 * a folder above it since is refused.
 */
export async function openExistingRoot(realPath: string): Promise<Folder> {
  const folder = wrap(await open(realPath, folderFlags), realPath);
  try {
    if ((await readPlace(folder, realPath)) !== realPath)
      throw new HotcellError('file-refused', 'The folder of this mount is not where it was when the daemon started.');
    return folder;
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

/** Where an open folder lies; where that cannot be asked, where its path leads. */
function readPlace(folder: Folder, realPath: string): Promise<string> {
  return canReachByHandle ? realpath(folder.pathTo('.')) : realpath(realPath);
}

/**
 * Opens a folder below another, name by name, and follows no link. With `create` missing folders are made. Fails with
 * ENOENT, and with ENOTDIR or ELOOP where a name is no folder.
 */
export async function openFolder(
  root: Folder,
  names: readonly string[],
  options: { readonly create?: boolean } = {},
): Promise<Folder> {
  let current = await duplicate(root);
  for (const name of names) {
    const parent = current;
    try {
      if (options.create) await makeFolder(parent, name);
      const path = parent.pathTo(name);
      current = wrap(await open(path, folderFlags), path);
    } finally {
      await parent[Symbol.asyncDispose]();
    }
  }
  return current;
}

async function duplicate(folder: Folder): Promise<Folder> {
  const path = folder.pathTo('.');
  return wrap(await open(path, folderFlags), path);
}

async function makeFolder(parent: Folder, name: string): Promise<void> {
  try {
    await mkdir(parent.pathTo(name), { mode: 0o700 });
  } catch (error) {
    if (readErrorCode(error) !== 'EEXIST') throw error;
  }
}

function wrap(handle: FileHandle, path: string): Folder {
  const base = canReachByHandle ? `/proc/self/fd/${handle.fd}` : path;
  return {
    pathTo: (name) => (name === '.' ? `${base}/.` : join(base, name)),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}
