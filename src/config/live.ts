import { isDeepStrictEqual } from 'node:util';
import Type, { type TSchema } from 'typebox';
import type { Config } from './config-types.ts';
import { settingsSchema } from './schema.ts';

/**
 * The keys that a running daemon takes over from an edited config file; every other key needs a restart. Whoever uses one
 * reads it from the config each time, and keeps no copy. A section stands for all of its keys. docs/configuration.md shows the same in its column "Applies".
 */
const liveKeys: ReadonlySet<string> = new Set([
  ...['grants', 'plugins', 'env', 'limits', 'limitsWithoutGrant', 'pluginLimits', 'skillRoutingRules'],
  ...['tools', 'models', 'gateway', 'mcp', 'anonymous', 'approvals', 'kv', 'hooks', 'repair', 'log'],
  'idempotency.sideEffectMs',
]);

/** Sections that count as one key. */
const wholeKeys: ReadonlySet<string> = new Set(['limits', 'limitsWithoutGrant', 'repair.mode']);

/** One key of the config. */
export interface SettingKey {
  readonly path: string;
  readonly schema: TSchema;
  /** Whether an edit counts without a restart. */
  readonly isLive: boolean;
}

/** Every key of the config, sections by their keys; limits of calls count as one key. */
export const settingKeys: readonly SettingKey[] = listKeys(settingsSchema, '');

function listKeys(schema: TSchema, path: string): SettingKey[] {
  if (!Type.IsObject(schema) || wholeKeys.has(path)) {
    const [section = ''] = path.split('.');
    return [{ path, schema, isLive: liveKeys.has(path) || liveKeys.has(section) }];
  }
  return Object.entries(schema.properties).flatMap(([key, inner]) => listKeys(inner, path === '' ? key : `${path}.${key}`));
}

/** What an edit of the config comes to. */
export interface ConfigEdit {
  /** Keys that have a new value from now on. */
  readonly applied: readonly string[];
  /** Keys whose value in the file is not the one in force. */
  readonly restart: readonly string[];
}

/** Where the config file stands to the config in force. */
export interface ConfigState {
  /** The file that was edited since the start. */
  readonly file?: string;
  /** Keys whose new values count after a restart. */
  readonly restart: readonly string[];
  /** Why the file as it is cannot be used; what was in force stays so. */
  readonly problem?: string;
}

/** A config of which some keys follow the file. */
export interface LiveConfig {
  /** Frozen; its live keys are read anew each time. */
  readonly config: Config;
  /** Takes over what can be taken over while running. */
  apply(next: Config): ConfigEdit;
}

/** Makes the config of a running daemon from the one it starts with. */
export function openLiveConfig(initial: Config): LiveConfig {
  let current = initial;
  const live = settingKeys.filter(({ isLive }) => isLive).map(({ path }) => path);
  const config: Config = { ...initial };
  for (const path of live) {
    const [name = '', inner] = path.split('.');
    if (inner === undefined) defineLive(config, name, () => Reflect.get(current, name));
    else defineLive(sectionOf(config, name, initial), inner, () => Reflect.get(Object(Reflect.get(current, name)), inner));
  }
  for (const section of Object.values(config)) if (typeof section === 'object') Object.freeze(section);
  return {
    config: Object.freeze(config),
    apply(next) {
      const changed = settingKeys.filter(({ path }) => !isDeepStrictEqual(readKey(config, path), readKey(next, path)));
      current = next;
      return {
        applied: changed.filter(({ isLive }) => isLive).map(({ path }) => path),
        restart: changed.filter(({ isLive }) => !isLive).map(({ path }) => path),
      };
    },
  };
}

/** The section of the config that is made live: a copy of the frozen one, made with the first of its keys. */
function sectionOf(config: Config, name: string, initial: Config): object {
  const given: unknown = Reflect.get(config, name);
  if (typeof given === 'object' && given !== null && given !== Reflect.get(initial, name)) return given;
  const section = { ...Object(given) };
  Reflect.set(config, name, section);
  return section;
}

function defineLive(target: object, name: string, get: () => unknown): void {
  Object.defineProperty(target, name, { get, enumerable: true, configurable: true });
}

function readKey(config: Config, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => Reflect.get(Object(value), name), config);
}
