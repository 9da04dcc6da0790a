import type { CapabilityUser } from '../../border/capability-user.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { isAddressLiteral } from '../../permissions/host-name.ts';
import { type Matchers, matchersOf } from '../../permissions/matchers.ts';
import { createDenial } from '../permission-denial.ts';
import { type Destination, isBlockedPort } from './destination.ts';
import { judgeAddress } from './private-addresses.ts';
import type { Resolve } from './resolve.ts';

/** A destination that may be connected to, at these addresses and no others. */
export interface CheckedDestination extends Destination {
  /** Without brackets, in the order in which to try them. */
  readonly addresses: readonly string[];
}

/** The one check between a guest and the network. */
export type NetworkCheck = (destination: Destination, user: CapabilityUser, signal: AbortSignal) => Promise<CheckedDestination>;

const maxAnswers = 64;
const maxAddresses = 4;

/**
 * Makes the network check: the host must be granted, its name is resolved once, and every answer must be public or
 * granted by its own address. Throws `permission-denied`, `network-refused` or `network-failed`.
 */
export function createNetworkCheck({ resolve }: { readonly resolve: Resolve }): NetworkCheck {
  return async (destination, user, signal) => {
    const { host, port } = destination;
    const where = describePlace(destination);
    if (!mayReach(user, host, port)) throw createDenial(user, { key: 'net', entry: where, tried: `reach ${where}` });
    if (isBlockedPort(port) && !user.granted().net?.includes(`${host}:${port}`)) {
      user.noteUse('net', `${host}:${port}`, false);
      throw refuse(user, where, 'its port belongs to another protocol', `Name the port in the grant: ${host}:${port}.`);
    }
    const answers = isAddressLiteral(host) ? [host] : await resolve(host, signal);
    if (answers.length === 0 || answers.length > maxAnswers) {
      throw new HotcellError('network-failed', `${host} has no usable address.`, { fix: 'Check the name of the host.' });
    }
    // Asked again after the wait: a revocation holds from the moment it is made.
    if (!mayReach(user, host, port)) throw createDenial(user, { key: 'net', entry: where, tried: `reach ${where}` });
    const matchers = matchersOf(user.granted());
    const addresses = answers.map((answer) => admitAddress(answer, destination, matchers, user));
    user.noteUse('net', `${host}:${port}`, true);
    return { ...destination, addresses: addresses.slice(0, maxAddresses) };
  };
}

/** Whether a host may be reached at all; what its addresses are is another question. */
export function mayReach(user: CapabilityUser, host: string, port: number): boolean {
  return user.reachesPublic === true || matchersOf(user.granted()).allowsHost(host, port);
}

/** The entry that would allow a destination: with the port only where it is not the usual one. */
export function describePlace({ url, host }: Destination): string {
  return url.port === '' ? host : `${host}:${url.port}`;
}

function admitAddress(answer: string, destination: Destination, matchers: Matchers, user: CapabilityUser): string {
  const { host, port } = destination;
  const verdict = judgeAddress(answer);
  if (verdict.kind === 'public') return stripBrackets(verdict.literal);
  if (verdict.kind === 'special' && isNamed(verdict.literal, destination, matchers)) return stripBrackets(verdict.literal);
  const range = verdict.kind === 'special' ? verdict.range : 'not a plain address';
  user.noteUse('net', `${host}:${port} at ${answer.slice(0, 64)} (${range})`, false);
  // The guest learns the range, not the address: names resolve to things it need not know.
  throw refuse(
    user,
    describePlace(destination),
    `its address is ${range}`,
    'Name the address itself in the grant, too, if that is meant.',
  );
}

/**
 * A special address is reached only when the grant names that address, or names `localhost` (which can mean nothing
 * else). That a grant names the host is not enough: whoever owns the host's name chooses its addresses.
 */
function isNamed(literal: string, { host, port }: Destination, matchers: Matchers): boolean {
  if (matchers.namesHost(literal, port)) return true;
  const isLocal = host === 'localhost' || host.endsWith('.localhost');
  return isLocal && (literal.startsWith('127.') || literal === '[::1]') && matchers.namesHost(host, port);
}

function refuse(user: CapabilityUser, where: string, reason: string, fix: string): HotcellError {
  return new HotcellError('network-refused', `Tool "${user.tool}" may not reach ${where}: ${reason}.`, { fix });
}

function stripBrackets(literal: string): string {
  return literal.startsWith('[') ? literal.slice(1, -1) : literal;
}
