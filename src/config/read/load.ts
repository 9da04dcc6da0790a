import { dirname, relative } from 'node:path';
import Value from 'typebox/value';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { isAtOrInside } from '../../file-system/paths.ts';
import type { Config } from '../config-types.ts';
import { freezeDeep } from '../json-object.ts';
import type { PermissionSet } from '../permission-set.ts';
import { type Settings, settingsSchema } from '../schema.ts';
import { findModelProblems } from '../settings/model-settings.ts';
import { checkSettings, isPlainObject, type SettingProblem } from './check-settings.ts';
import { mergeLayers, resolvePaths } from './merge.ts';
import { findConfigFile, findLine, readConfigFile } from './read-file.ts';
import { type CliFlags, readEnvironment, readFlags, type SettingSource } from './sources.ts';

/** Reads one permissions block: permissions/parse.ts, handed in because config stands below permissions. */
export type ParsePermissions = (
  value: unknown,
) =>
  | { readonly ok: true; readonly permissions: PermissionSet }
  | { readonly ok: false; readonly message: string; readonly key?: string };

/** What a configuration is made of. */
export interface ConfigInput {
  readonly flags: CliFlags;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly parsePermissions: ParsePermissions;
}

/**
 * Reads the configuration: defaults, then the config file, the environment and the flags, each winning over the one
 * before. Frozen, with absolute paths. Throws `config-invalid` that names everything that is wrong in all of them.
 */
export function loadConfig({ flags, env, cwd, parsePermissions }: ConfigInput): Config {
  const configFile = findConfigFile(flags.config ?? (env.HOTCELL_CONFIG || undefined), cwd);
  const sources = [readEnvironment(env, cwd), readFlags(flags, cwd)];
  if (configFile !== undefined) sources.unshift(readFileSource(configFile));
  const problems: string[] = [];
  const layers = sources.map((source) => checkSource(source, problems));
  const grants = readGrants(sources, layers, parsePermissions, problems);
  for (const { repair } of layers) {
    const parsed = parsePermissions({ net: repair?.sources ?? [] });
    if (!parsed.ok) problems.push(`repair.sources: ${parsed.message.replace(/\.$/, '')}`);
  }
  refuse(problems);
  const config = mergeLayers(layers, { cwd, configFile, grants });
  refuse(findContradictions(config));
  return freezeDeep(config);
}

function readFileSource(file: string): SettingSource {
  const value = readConfigFile(file) ?? {};
  if (!isPlainObject(value))
    throw new HotcellError('config-invalid', `The config file ${file} must hold a map of keys and values.`);
  // `$schema` is for editors.
  const { $schema: _, ...settings } = value;
  return { value: settings, baseDir: dirname(file), nameOf: (path) => `${placeOf(file, path)}: ${path.join('.')}` };
}

function placeOf(file: string, path: readonly string[]): string {
  const line = findLine(file, path);
  return line === undefined ? file : `${file}:${line}`;
}

function checkSource({ value, baseDir, nameOf }: SettingSource, problems: string[]): Settings {
  const found: SettingProblem[] = checkSettings(settingsSchema, value);
  problems.push(...found.map(({ path, reason }) => `${nameOf(path)} ${reason}`));
  return Value.Check(settingsSchema, value) ? resolvePaths(value, baseDir) : {};
}

/** Only the file can hold grants; their values are read by the one parser of permissions. */
function readGrants(
  sources: readonly SettingSource[],
  layers: readonly Settings[],
  parsePermissions: ParsePermissions,
  problems: string[],
): Config['grants'] {
  const blocks = layers.flatMap(({ grants = {} }, index) =>
    Object.entries(grants).map(([plugin, block]) => ({ plugin, block, nameOf: sources[index]?.nameOf })),
  );
  const grants = blocks.flatMap(({ plugin, block, nameOf }): [string, PermissionSet][] => {
    const parsed = parsePermissions(block);
    if (parsed.ok) return [[plugin, parsed.permissions]];
    const key = parsed.key === undefined ? [] : [parsed.key];
    problems.push(`${nameOf?.(['grants', plugin, ...key]) ?? plugin}: ${parsed.message.replace(/\.$/, '')}`);
    return [];
  });
  return Object.fromEntries(grants);
}

/** What every key for itself allows, but not together. */
function findContradictions({ workers, models, dataDir, pluginDirs, skillDirs, wasmDirs }: Config): string[] {
  const problems: string[] = [];
  if (workers.min > workers.max) problems.push(`workers.min is ${workers.min}, which is more than workers.max (${workers.max})`);
  problems.push(...findModelProblems(models));
  for (const [key, folders] of Object.entries({ pluginDirs, skillDirs, wasmDirs })) {
    const inside = folders.find((folder) => isWatchedInside(folder, dataDir) || isAtOrInside(dataDir, folder));
    if (inside !== undefined) problems.push(`${key} and dataDir overlap: ${inside} and ${dataDir}`);
  }
  return problems;
}

/** True when the watcher of `folder` would see `path`: it passes over what begins with a dot. */
function isWatchedInside(folder: string, path: string): boolean {
  return isAtOrInside(folder, path) && !relative(folder, path).startsWith('.');
}

function refuse(problems: readonly string[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  const message =
    others.length === 0
      ? endSentence(first)
      : `${problems.length} settings are wrong.\n${problems.map((problem) => `- ${endSentence(problem)}`).join('\n')}`;
  throw new HotcellError('config-invalid', message);
}

function endSentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}
