import { isIPv4 } from 'node:net';
import type { CapabilityUser } from '../../border/capability-user.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { matchersOf } from '../../permissions/matchers.ts';
import type { Redactor, SecretRegistry } from '../../secrets/secret-types.ts';
import { substituteSecrets } from '../../secrets/substitution.ts';
import type { CheckedDestination } from './network-check.ts';
import type { OutgoingRequest } from './request-headers.ts';

/** One hop as it is sent. */
export interface SentHop {
  readonly destination: CheckedDestination;
  readonly request: OutgoingRequest;
}

/**
 * Puts secrets in the place of their placeholders, for this one hop: what the journey goes on with keeps the placeholders.
 * Throws `secret-misplaced` before anything is sent.
 */
export function fillSecrets(
  secrets: Pick<SecretRegistry, 'findIn' | 'redactor'> | undefined,
  { destination, request }: SentHop,
  user: CapabilityUser,
): SentHop {
  if (secrets === undefined || secrets.redactor.isIdle) return { destination, request };
  try {
    const { url, headers, used } = substituteSecrets(secrets, {
      executionId: user.executionId,
      url: destination.url,
      host: destination.host,
      port: destination.port,
      isPrivate: destination.url.protocol === 'https:' || destination.addresses.every(isLoopback),
      headers: request.headers,
      body: request.body,
      mayUse: (name) => matchersOf(user.granted()).allowsEnv(name),
    });
    for (const name of used) user.noteUse('env', name, true);
    return { destination: { ...destination, url }, request: { ...request, headers } };
  } catch (error) {
    if (error instanceof HotcellError && typeof error.facts.secret === 'string') user.noteUse('env', error.facts.secret, false);
    throw error;
  }
}

/**
 * Refuses to follow a redirect that carries a secret to another origin: the server that got it may say it wherever it
 * wants, but the daemon does not carry it there.
 */
export function checkRedirect(redactor: Redactor | undefined, location: string, hop: { from: URL; to: URL }): void {
  if (redactor === undefined || redactor.isIdle || hop.from.origin === hop.to.origin) return;
  if (redactor.text(location) === location && redactor.text(hop.to.href) === hop.to.href) return;
  // The host of the redirect may be the secret itself: it is not named.
  throw new HotcellError('secret-misplaced', `${hop.from.host} redirects with a secret in the address. It was not followed.`);
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}
