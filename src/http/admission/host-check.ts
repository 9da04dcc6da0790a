import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { HotcellError } from '../../errors/hotcell-error.ts';

/** Throws `host-refused` for a Host or Origin header that is not ours. */
export type HostCheck = (host: string | undefined, origin: string | undefined) => void;

const rememberedHosts = 64;

/**
 * Refuses DNS rebinding and cross-site requests. A page that rebinds its name to this address still sends its own
 * name, so a Host must be an address, localhost or a name that the operator chose; the port does not matter, it may be
 * forwarded. An Origin must be the origin that the Host names.
 */
export function createHostCheck(names: readonly string[]): HostCheck {
  const allowed = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  const accepted = new Set<string>();
  return (host, origin) => {
    if (host === undefined || !accepted.has(host)) {
      if (host === undefined || !isOurs(host, allowed)) throw refuseHost(host);
      if (accepted.size < rememberedHosts) accepted.add(host);
    }
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) throw refuseOrigin(origin, host);
  };
}

/** Headers that mean something only once: Node keeps the first of two, a proxy before it may have looked at the other. */
const singletons: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'host',
  'idempotency-key',
  'if-match',
  'last-event-id',
  'origin',
  'transfer-encoding',
  'upgrade',
]);

/** Refuses a request that says twice what may be said once. */
export function refuseRepeatedHeaders({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): void {
  let names = 0;
  for (const _ in headers) names++;
  // As many names as lines: nothing is there twice.
  if (names * 2 === rawHeaders.length) return;
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (seen.has(name) && (singletons.has(name) || name.startsWith('x-hotcell-') || name.startsWith('sec-websocket-'))) {
      throw new HotcellError('body-invalid', `Expected one header ${name}, got several.`, { fix: 'Send each of them once.' });
    }
    seen.add(name);
  }
}

function isOurs(host: string, allowed: ReadonlySet<string>): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  return allowed.has(name) || name.endsWith('.localhost') || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/** `localhost:7420` and `[::1]:7420` without the port; undefined when it is no host at all. */
function hostName(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec(host.toLowerCase());
  return match?.[1];
}

function refuseHost(host: string | undefined): HotcellError {
  const got = host === undefined ? 'none' : `"${host.slice(0, 128)}"`;
  return new HotcellError('host-refused', `Expected a Host header that names this daemon, got ${got}.`, {
    fix: 'Use the address that hotcell start printed, or add the name to http.allowedHosts in the config.',
  });
}

function refuseOrigin(origin: string, host: string): HotcellError {
  return new HotcellError('host-refused', `Expected no Origin, or the origin of ${host}, got "${origin.slice(0, 128)}".`);
}
