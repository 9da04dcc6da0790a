import { resolve } from 'node:path';
import type { Config } from '../config-types.ts';
import { isObject } from '../json-object.ts';
import { defaultSettings, type Settings } from '../schema.ts';

/** What does not come from the layers themselves. */
interface MergeContext {
  readonly cwd: string;
  readonly configFile: string | undefined;
  readonly grants: Config['grants'];
}

/** Makes the paths of one layer absolute. */
export function resolvePaths<Layer extends Settings>(settings: Layer, baseDir: string): Layer {
  const { dataDir, pluginDirs, skillDirs, wasmDirs, sharedDirs, secrets, mounts } = settings;
  const toAbsolute = (path: string) => resolve(baseDir, path);
  return {
    ...settings,
    ...(dataDir === undefined ? {} : { dataDir: toAbsolute(dataDir) }),
    ...(pluginDirs === undefined ? {} : { pluginDirs: pluginDirs.map(toAbsolute) }),
    ...(skillDirs === undefined ? {} : { skillDirs: skillDirs.map(toAbsolute) }),
    ...(wasmDirs === undefined ? {} : { wasmDirs: wasmDirs.map(toAbsolute) }),
    ...(sharedDirs === undefined ? {} : { sharedDirs: sharedDirs.map(toAbsolute) }),
    ...(mounts === undefined ? {} : { mounts: resolveMounts(mounts, toAbsolute) }),
    ...(secrets === undefined ? {} : { secrets: resolveFiles(secrets, toAbsolute) }),
  };
}

function resolveMounts(
  mounts: NonNullable<Settings['mounts']>,
  toAbsolute: (path: string) => string,
): NonNullable<Settings['mounts']> {
  return Object.fromEntries(Object.entries(mounts).map(([name, mount]) => [name, { ...mount, path: toAbsolute(mount.path) }]));
}

function resolveFiles(
  secrets: NonNullable<Settings['secrets']>,
  toAbsolute: (path: string) => string,
): NonNullable<Settings['secrets']> {
  const resolved = Object.entries(secrets).map(([name, { file, ...rest }]) => [
    name,
    { ...rest, ...(file === undefined ? {} : { file: toAbsolute(file) }) },
  ]);
  return Object.fromEntries(resolved);
}

/** Lays the layers over the defaults, the last one on top. */
export function mergeLayers(layers: readonly Settings[], { cwd, configFile, grants }: MergeContext): Config {
  // Limits that nobody chose are filled in for each call.
  const defaults = { ...structuredClone(defaultSettings), limits: {}, limitsWithoutGrant: {} };
  const base: Omit<Config, 'configFile' | 'grants' | 'safe'> = resolvePaths(defaults, cwd);
  const merged = layers.reduce((below, layer) => lay(below, layer, defaults), base);
  return { ...merged, configFile, grants, safe: merged.safeMode === 'all' };
}

/** Sections are merged key by key, with the sections in them; lists and maps, which are empty by default, are replaced. */
function lay<Below extends object>(below: Below, layer: object, byDefault: object): Below {
  const [values, defaultValues] = [new Map(Object.entries(below)), new Map(Object.entries(byDefault))];
  const laid = Object.entries(layer).flatMap(([key, value]: [string, unknown]) => {
    const [under, usual]: unknown[] = [values.get(key), defaultValues.get(key)];
    const isSection = isObject(usual) && Object.keys(usual).length > 0 && isObject(under) && isObject(value);
    return value === undefined ? [] : [[key, isSection ? lay(under, value, usual) : value]];
  });
  return Object.assign({}, below, Object.fromEntries(laid));
}
