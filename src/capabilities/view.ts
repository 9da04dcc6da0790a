import type { Config } from '../config/config-types.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import { matchersOf } from '../permissions/matchers.ts';
import { describeGrant } from './denial.ts';

/** What `buildBorderView` needs to know of a call. */
export interface ViewSources {
  readonly pluginName: string;
  readonly requested: PermissionSet;
  readonly granted: PermissionSet;
  readonly config: Pick<Config, 'plugins' | 'env'>;
  /** The environment of the daemon. */
  readonly processEnv: Readonly<Record<string, string | undefined>>;
}

/** Values that a guest reads without waiting; has the shape of the border's view. */
export interface View {
  readonly config: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string>>;
  readonly denied: Readonly<Record<string, string>>;
}

const lastByGrant = new WeakMap<PermissionSet, { readonly sources: ViewSources; readonly view: View }>();

/**
 * Gathers what `context.config.get` and `context.env.get` may answer: everything under `plugins.<name>` of the config, and
 * the granted `env` names, from `env` of the config before the daemon's environment. A name that was asked for in vain
 * gets its sentence. The daemon's own names (`HOTCELL_…`) are never answered, whatever was granted. Asked before every slice
 * of a call: the last view of a granted set is kept as long as its sources are the same objects.
 */
export function buildBorderView(sources: ViewSources): View {
  const last = lastByGrant.get(sources.granted);
  if (last !== undefined && isSame(last.sources, sources)) return last.view;
  const view = gather(sources);
  lastByGrant.set(sources.granted, { sources, view });
  return view;
}

function isSame(one: ViewSources, other: ViewSources): boolean {
  return (
    one.pluginName === other.pluginName &&
    one.requested === other.requested &&
    one.config === other.config &&
    one.processEnv === other.processEnv
  );
}

function gather({ pluginName, requested, granted, config, processEnv }: ViewSources): View {
  const own = Object.hasOwn(config.plugins, pluginName) ? (config.plugins[pluginName] ?? {}) : {};
  const values = (granted.env ?? []).flatMap((name): [string, string][] => {
    const value = isReserved(name) ? undefined : (readOwn(config.env, name) ?? readOwn(processEnv, name));
    return value === undefined ? [] : [[name, value]];
  });
  const env = Object.fromEntries(values);
  const { allowsEnv } = matchersOf(granted);
  const denied = (requested.env ?? []).filter((name) => !allowsEnv(name) && !Object.hasOwn(own, name));
  return Object.freeze({
    config: Object.freeze({ ...env, ...own }),
    env: Object.freeze(env),
    denied: Object.freeze(Object.fromEntries(denied.map((name) => [name, describeDenied(pluginName, name)]))),
  });
}

function describeDenied(pluginName: string, name: string): string {
  const setting = `Set plugins.${pluginName}.${name} in the config, which context.config.get answers, or grant the environment variable.`;
  return `Plugin "${pluginName}" may not read ${name} from the environment. ${setting} ${describeGrant(pluginName, 'env', name)}`;
}

function isReserved(name: string): boolean {
  return name.toUpperCase().startsWith('HOTCELL_');
}

/** Only own properties: `constructor` is a name like any other. */
function readOwn(values: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
