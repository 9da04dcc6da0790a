import { join } from 'node:path';
import { entriesOf, realPathOf } from '../file-system/paths.ts';
import type { HookPlace } from './hook-types.ts';

/** Where hooks are looked for; absolute. */
export interface HookRoots {
  /** The folder `hooks` of the data directory: a folder a hook. */
  readonly dataHooks: string;
  /** Folders of skills: each skill may have a folder `hooks`. */
  readonly skillDirs: readonly string[];
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const maxHooks = 200;
const maxEntries = 2000;

/**
 * Every folder that may be a hook, sorted by name. Links are not followed, names that are none are passed over, and of two
 * skills with one name the first folder counts, as for skills.
 */
export function discoverHooks({ dataHooks, skillDirs }: HookRoots): HookPlace[] {
  const placesByName = new Map<string, HookPlace>();
  const add = (place: HookPlace): void => {
    if (placesByName.size < maxHooks && !placesByName.has(place.name)) placesByName.set(place.name, place);
  };
  for (const name of listFolders(dataHooks)) add({ name, dir: join(realFolder(dataHooks), name), origin: 'data' });
  const seenSkills = new Set<string>();
  for (const skillDir of skillDirs) {
    for (const skill of listFolders(skillDir)) {
      if (seenSkills.has(skill)) continue;
      seenSkills.add(skill);
      const hooks = join(realFolder(skillDir), skill, 'hooks');
      if (!listFolders(join(skillDir, skill)).includes('hooks')) continue;
      for (const name of listFolders(hooks)) add({ name: `${skill}/${name}`, dir: join(hooks, name), origin: 'skill' });
    }
  }
  return [...placesByName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Real folders only, in the order of their names; none where nothing can be read. */
function listFolders(folder: string): string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory() && namePattern.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .slice(0, maxEntries);
}

function realFolder(folder: string): string {
  return realPathOf(folder) ?? folder;
}
