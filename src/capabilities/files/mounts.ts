import { statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { createSlots, type Slots } from '../../concurrency/slots.ts';
import { createTurns, type Turns } from '../../concurrency/turns.ts';
import type { Config } from '../../config/config-types.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../errors/near-names.ts';
import { isAtOrInside, realPathOf } from '../../file-system/paths.ts';
import { forbiddenSegments, isForbiddenSegment } from '../../permissions/forbidden-segments.ts';
import { isMountName } from '../../permissions/path-grammar.ts';
import { openExistingRoot } from './folder.ts';
import { stageInMount } from './staging.ts';
import type { FilePlace } from './workspaces.ts';

type Parts = Pick<Config, 'mounts' | 'dataDir' | 'configFile' | 'pluginDirs' | 'skillDirs' | 'wasmDirs' | 'sharedDirs'>;

interface Mount {
  readonly dir: string;
  readonly canWrite: boolean;
}

const maxAtOnce = 64;

/** The folders that the operator gave names. */
export type Mounts = ReturnType<typeof createMounts>;

/**
 * Makes the mounts of a config. Throws `config-invalid` for one that is no folder, or that overlaps what the daemon itself
 * lives from: whoever may write there could give itself any permission.
 */
export function createMounts(config: Parts) {
  const mounts = new Map(
    Object.entries(config.mounts).map(([name, { path, write = false }]) => [name, readMount(name, path, write)]),
  );
  for (const [name, { dir }] of mounts) refuseOverlap(name, dir, config);
  const { run: pass } = createSlots(maxAtOnce);
  const turns = createTurns();
  return {
    /** Throws `file-refused` for a mount that there is none of. */
    find: (name: string): FilePlace => {
      const mount = mounts.get(name);
      if (mount === undefined) {
        const near = suggestNearNames(name, [...mounts.keys()]);
        throw new HotcellError('file-refused', `There is no mount "${name}".${near}`, {
          fix: 'Have the operator add it to `mounts` in the config.',
        });
      }
      return createPlace(name, mount, { pass, turns });
    },
  };
}

function createPlace(name: string, { dir, canWrite }: Mount, { pass, turns }: { pass: Slots['run']; turns: Turns }): FilePlace {
  const run: FilePlace['read'] = (use) =>
    pass(async () => {
      await using root = await openExistingRoot(dir);
      return await use({ root, book: async () => {}, stage: (data) => stageInMount(root, data, Date.now()) });
    });
  return {
    read: run,
    change: async (use) => {
      if (!canWrite) {
        throw new HotcellError('file-refused', `The mount "${name}" is there to be read only.`, {
          fix: `Have the operator set mounts.${name}.write: true in the config.`,
        });
      }
      return turns.run(name, () => run(use));
    },
  };
}

function readMount(name: string, path: string, canWrite: boolean): Mount {
  if (!isMountName(name)) {
    throw refuse(`"${name}" is no name of a mount: it takes 2 to 32 lower-case letters, digits and hyphens, a letter first`);
  }
  const dir = realPathOf(path);
  if (dir === undefined || !statSync(dir).isDirectory()) throw refuse(`mounts.${name}.path is no folder: ${path}`);
  if (dir.split(sep).some(isForbiddenSegment)) {
    throw refuse(`mounts.${name}.path lies in a folder that plugins never see (${forbiddenSegments.join(' ')}): ${dir}`);
  }
  return { dir, canWrite };
}

function refuseOverlap(name: string, dir: string, config: Parts): void {
  const own: readonly (readonly [what: string, path: string])[] = [
    ['the data directory', config.dataDir],
    ...config.pluginDirs.map((path) => ['a plugin folder', path] as const),
    ...config.skillDirs.map((path) => ['a skill folder', path] as const),
    ...config.wasmDirs.map((path) => ['a folder of WASM plugins', path] as const),
    ...config.sharedDirs.map((path) => ['a folder that plugins import from', path] as const),
    ...(config.configFile === undefined ? [] : [['the config file', config.configFile] as const]),
  ];
  for (const [what, path] of own) {
    const real = resolveThroughLinks(path);
    if (isAtOrInside(dir, real) || isAtOrInside(real, dir)) throw refuse(`mounts.${name}.path overlaps ${what}, ${path}: ${dir}`);
  }
}

/** The real path of what may not exist yet: that of the nearest folder above that does, and the rest as it is. */
function resolveThroughLinks(path: string): string {
  const real = realPathOf(path);
  if (real !== undefined) return real;
  const parent = dirname(path);
  return parent === path ? path : join(resolveThroughLinks(parent), basename(path));
}

function refuse(reason: string): HotcellError {
  return new HotcellError('config-invalid', `${reason}.`, {
    fix: 'Correct `mounts` in the config; see hotcell docs permissions.',
  });
}
