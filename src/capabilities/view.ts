import type { BorderView } from '../border/border.ts';
import { BoundedMap } from '../collections/bounded-map.ts';
import type { Config } from '../config/config-types.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import { matchersOf } from '../permissions/matchers.ts';
import type { SecretRegistry } from '../secrets/secret-types.ts';
import { describeGrant } from './permission-denial.ts';

/** What `buildBorderView` needs to know of a call. */
export interface ViewSources {
  readonly pluginName: string;
  /** What the config says to the plugin of this file, and the key under which it does. */
  readonly own: Readonly<Record<string, unknown>>;
  readonly ownKey: () => string;
  /** False for a build of another hand: of these values it has what it was granted as env for its very content. */
  readonly isOperators: boolean;
  readonly requested: PermissionSet;
  readonly granted: PermissionSet;
  readonly config: Pick<Config, 'env'>;
  /** The environment of the daemon. */
  readonly processEnv: Readonly<Record<string, string | undefined>>;
  readonly secrets?: Pick<SecretRegistry, 'revision' | 'has' | 'problemOf' | 'placeholderOf' | 'redactor'> | undefined;
  /** Whose placeholders are answered for secrets; without it none are. */
  readonly executionId?: string | undefined;
}

interface KeptView {
  readonly sources: ViewSources;
  readonly revision: number;
  /** Everything but secrets. */
  readonly view: BorderView;
  /** Granted names that are secrets. */
  readonly secretNames: readonly string[];
  /** The views of the executions that were seen last. */
  readonly viewByExecution: Map<string, BorderView>;
}

const lastByGrant = new WeakMap<PermissionSet, KeptView>();
const maxViews = 256;

/**
 * Gathers what `context.config.get` and `context.env.get` may answer: everything under `plugins.<file>` of the config, and
 * the granted `env` names, from `env` of the config before the daemon's environment. A name that was asked for in vain
 * gets its sentence. The daemon's own names (`HOTCELL_…`) are never answered, whatever was granted, and a secret answers its
 * placeholder in this execution. Asked before every slice of a call: the last view of a granted set is kept as long as its
 * sources are the same objects.
 */
export function buildBorderView(sources: ViewSources): BorderView {
  let kept = lastByGrant.get(sources.granted);
  if (kept === undefined || !isSame(kept, sources)) {
    kept = gather(sources);
    lastByGrant.set(sources.granted, kept);
  }
  return kept.secretNames.length === 0 ? kept.view : addPlaceholders(kept, sources);
}

function isSame({ sources, revision }: KeptView, other: ViewSources): boolean {
  return (
    sources.pluginName === other.pluginName &&
    sources.own === other.own &&
    sources.isOperators === other.isOperators &&
    sources.requested === other.requested &&
    sources.config === other.config &&
    sources.processEnv === other.processEnv &&
    sources.secrets === other.secrets &&
    revision === (other.secrets?.revision ?? 0)
  );
}

function gather(sources: ViewSources): KeptView {
  const { pluginName, ownKey, requested, granted, config, processEnv, secrets } = sources;
  const redact = <Value>(value: Value): Value => secrets?.redactor.value(value) ?? value;
  const { allowsEnv } = matchersOf(granted);
  const values = Object.entries(sources.own).filter(([name]) => sources.isOperators || allowsEnv(name));
  const own = redact(Object.fromEntries(values));
  const names = (granted.env ?? []).filter((name) => !isReserved(name));
  const secretNames = names.filter((name) => secrets?.has(name));
  const variables = names.flatMap((name): [string, string][] => {
    const value = secretNames.includes(name) ? undefined : (readOwn(config.env, name) ?? readOwn(processEnv, name));
    // A variable that a secret is read from is not a way around its binding.
    return value === undefined ? [] : [[name, redact(value)]];
  });
  const env = Object.fromEntries(variables);
  const denied = (requested.env ?? [])
    .filter((name) => !allowsEnv(name) && !Object.hasOwn(own, name))
    .map((name): [string, string] => [
      name,
      secrets?.has(name) ? describeDeniedSecret(pluginName, name) : describeDenied(pluginName, ownKey(), name),
    ]);
  const unusable = secretNames.flatMap((name): [string, string][] => {
    const problem = secrets?.problemOf(name);
    return problem === undefined ? [] : [[name, `The secret ${name} ${problem}.`]];
  });
  const view = Object.freeze({
    config: Object.freeze({ ...env, ...own }),
    env: Object.freeze(env),
    denied: Object.freeze(Object.fromEntries([...denied, ...unusable])),
  });
  return {
    sources,
    revision: secrets?.revision ?? 0,
    view,
    secretNames: secretNames.filter((name) => secrets?.problemOf(name) === undefined),
    viewByExecution: new BoundedMap(maxViews),
  };
}

function addPlaceholders({ view, secretNames, viewByExecution }: KeptView, { secrets, executionId }: ViewSources): BorderView {
  if (secrets === undefined || executionId === undefined) return view;
  const known = viewByExecution.get(executionId);
  if (known !== undefined) return known;
  const placeholders = Object.fromEntries(secretNames.map((name) => [name, secrets.placeholderOf(executionId, name)]));
  const made = Object.freeze({
    config: Object.freeze({ ...placeholders, ...view.config }),
    env: Object.freeze({ ...view.env, ...placeholders }),
    denied: view.denied,
  });
  viewByExecution.set(executionId, made);
  return made;
}

function describeDenied(pluginName: string, ownKey: string, name: string): string {
  const setting = `Set plugins.${ownKey}.${name} in the config, which context.config.get answers, or grant the environment variable.`;
  return `Plugin "${pluginName}" may not read ${name} from the environment. ${setting} ${describeGrant(pluginName, 'env', name)}`;
}

function describeDeniedSecret(pluginName: string, name: string): string {
  return `Plugin "${pluginName}" may not use the secret ${name}. ${describeGrant(pluginName, 'env', name)}`;
}

function isReserved(name: string): boolean {
  return name.toUpperCase().startsWith('HOTCELL_');
}

/** Only own properties: `constructor` is a name like any other. */
function readOwn(values: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
