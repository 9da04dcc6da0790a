import { join } from 'node:path';
import { entriesOf } from '../../file-system/paths.ts';

const maxEntries = 20_000;
const packageImport = /\b(?:from|import|require)\s*\(?\s*(['"])((?:@[\w.-]+\/)?[\w-][\w.-]*)(?:\/[^'"\n]*)?\1/g;

/**
 * The first `package.json` below the folders that is no regular file: the bundler opens package files by itself and waits for
 * ever on a pipe. Looks at a bounded number of entries, and opens nothing.
 */
export function findStrayPackageFile(folders: readonly string[]): string | undefined {
  const queue = [...folders];
  let left = maxEntries;
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
    for (const entry of entriesOf(folder)) {
      left -= 1;
      if (left < 0) return undefined;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) queue.push(path);
      else if (entry.name === 'package.json' && !entry.isFile() && !entry.isSymbolicLink()) return path;
    }
  }
  return undefined;
}

/** The folders of the packages that the texts import, as far as they lie in one of the package folders. */
export function listPackageFolders(texts: readonly string[], packageDirs: readonly string[]): string[] {
  const names = new Set(texts.flatMap((text) => [...text.matchAll(packageImport)].map(([, , name = '']) => name)));
  return [...names].flatMap((name) => packageDirs.map((folder) => join(folder, name)));
}
