import { hostMatches } from '../permissions/matching.ts';
import type { SecretRegistry } from '../secrets/secret-types.ts';

/** Where the key of a model, or of another server that the config names, may stand, in the order in which it is looked for. */
export interface KeySources {
  /** `env` of the config. */
  readonly configured: Readonly<Record<string, string>>;
  readonly secrets: Pick<SecretRegistry, 'placeholderOf' | 'findIn'>;
  readonly processEnv: Readonly<Record<string, string | undefined>>;
}

/** No execution has this id, so no guest ever gets a placeholder of it. */
const daemonItself = 'models';

/**
 * The value of a key that may go to a model server, or in another header to another server that the config names. A secret goes
 * only where it is bound to: in that header, to its hosts, over TLS or loopback. Undefined when there is none.
 */
export function readModelKey(name: string, baseUrl: string, sources: KeySources, header = 'authorization'): string | undefined {
  const kept = readOwn(sources.configured, name) ?? readSecret(name, { baseUrl, header }, sources.secrets);
  return kept ?? readOwn(sources.processEnv, name);
}

function readSecret(
  name: string,
  { baseUrl, header }: { readonly baseUrl: string; readonly header: string },
  secrets: KeySources['secrets'],
): string | undefined {
  const secret = secrets.findIn(daemonItself, secrets.placeholderOf(daemonItself, name))[0]?.secret;
  const url = URL.parse(baseUrl);
  if (secret === undefined || url === null || secret.binding.header !== header) return undefined;
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const isBound = secret.binding.hosts.some((entry) => hostMatches(entry, url.hostname, port));
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return isBound && (url.protocol === 'https:' || isLoopback) ? secret.value : undefined;
}

function readOwn(values: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return Object.hasOwn(values, name) && values[name] !== '' ? values[name] : undefined;
}
