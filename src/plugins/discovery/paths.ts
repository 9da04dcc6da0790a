import { type Dirent, readdirSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';

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
