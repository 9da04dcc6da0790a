import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { entriesOf } from '../discovery/paths.ts';

const partName = /^\..+\.[0-9a-f]{12}\.tmp$/;
const maxDepth = 4;
const maxFolders = 2000;

/** Where a text is written before it takes its place: beside it, and with a dot, so that nobody takes it for a plugin. */
export function partFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
}

/** Removes what a daemon that was killed in the middle of writing left in a folder of plugins. Must not throw. */
export function sweepParts(root: string): void {
  const folders = [{ path: root, depth: 0 }];
  for (const { path, depth } of folders) {
    for (const entry of entriesOf(path)) {
      const own = join(path, entry.name);
      if (entry.isFile() && partName.test(entry.name)) rmSync(own, { force: true });
      const isMeant = entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.');
      if (isMeant && depth < maxDepth && folders.length < maxFolders) folders.push({ path: own, depth: depth + 1 });
    }
  }
}
