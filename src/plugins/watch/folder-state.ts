import { lstatSync, readdirSync, statSync } from 'node:fs';
import { isPassingError } from '../../errors/system-error.ts';
import type { PluginSource } from '../discovery/plugin-source.ts';

/**
 * Whether the folder in which a plugin lay is away as a whole: it is missing, cannot be read just now, or lies on another
 * device and is empty, as the place is from which something was unmounted. What lay in it is not gone then.
 */
export function isFolderAway({ root, device }: PluginSource): boolean {
  try {
    const stats = statSync(root.path, { throwIfNoEntry: false });
    if (!stats?.isDirectory()) return true;
    return stats.dev !== device && readdirSync(root.path).length === 0;
  } catch (error) {
    return isPassingError(error);
  }
}

/** Whether it is the machine that keeps a path from being looked at, rather than the path. */
export function isUnreadableNow(path: string): boolean {
  try {
    lstatSync(path);
    return false;
  } catch (error) {
    return isPassingError(error);
  }
}
