import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The environment of a thread or process of the daemon's own: nothing but where this one keeps its compiled sources, if it
 * does (`module.enableCompileCache`). Without it each would read and compile them anew, which takes longer than its start.
 */
export function codeCacheEnvironment(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node appends a folder for its version and this user.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
