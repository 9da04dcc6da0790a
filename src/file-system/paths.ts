import { accessSync, constants, type Dirent, existsSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, sep } from 'node:path';

/** The real path of what lies there; undefined when nothing does, or it cannot be looked at. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** What lies in a folder; nothing for one that cannot be read. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Whether `path` lies below `folder`, compared by segments. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether `path` is `folder` or lies below it. */
export function isAtOrInside(folder: string, path: string): boolean {
  return path === folder || isInside(folder, path);
}

/** Whether the daemon may run the file. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes a folder and those above it, if they are not there. Node's own way to do so never ends where a file system takes no
 * folder and says that the one above is missing, as /proc does.
 */
export function makeFolders(path: string, mode?: number): void {
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolders(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
