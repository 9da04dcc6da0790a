import { connect, isIPv6, type Socket } from 'node:net';
import type { CapabilityUser } from '../../border/capability-user.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { normalizeHost } from '../../permissions/host-name.ts';
import { createDenial } from '../permission-denial.ts';
import { describePlace, mayReach, type NetworkCheck } from './network-check.ts';

/** How often an open connection is asked whether it is still granted, in ms. */
const lookMs = 500;

/** Where to connect. */
export interface DialTarget {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a TCP connection to a granted place, through the network check: the address that was checked is the address that is
 * connected to. Aborting `signal` closes it. For guests with network clients of their own; what travels inside is theirs. Throws
 * a HotcellError.
 */
export async function dialChecked(
  check: NetworkCheck,
  target: DialTarget,
  options: { readonly user: CapabilityUser; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Socket> {
  const { user, signal, timeoutMs } = options;
  // Network clients name an IPv6 address without the brackets of a URL.
  const host = normalizeHost(isIPv6(target.host) ? `[${target.host}]` : target.host);
  const isPort = Number.isInteger(target.port) && target.port > 0 && target.port < 65_536;
  const url = host === undefined || !isPort ? null : URL.parse(`http://${host}:${target.port}/`);
  if (host === undefined || url === null) {
    throw new HotcellError('network-refused', 'A connection needs a host name or address and a port.');
  }
  const { addresses } = await check({ url, host, port: target.port }, user, signal);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  for (const address of addresses) {
    const socket = await tryAddress(address, target.port, deadline);
    if (socket === undefined) continue;
    const close = (): void => void socket.destroy();
    signal.addEventListener('abort', close, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', close));
    if (signal.aborted) close();
    watchGrant(socket, { host, port: target.port, where: describePlace({ url, host, port: target.port }) }, user);
    return socket;
  }
  if (signal.aborted)
    throw new HotcellError('cancelled', `The connection to ${host}:${target.port} was cancelled with its call.`);
  throw new HotcellError('network-failed', `${host}:${target.port} does not answer.`);
}

/** A connection is in use for as long as it is open: it ends soon after its grant was revoked. */
function watchGrant(
  socket: Socket,
  { host, port, where }: { readonly host: string; readonly port: number; readonly where: string },
  user: CapabilityUser,
): void {
  const timer = setInterval(() => {
    if (mayReach(user, host, port)) return;
    socket.destroy(createDenial(user, { key: 'net', entry: where, tried: `reach ${where} any longer` }));
  }, lookMs);
  timer.unref();
  // Whoever uses it listens, too; until then it must not bring the daemon down.
  socket.on('error', () => undefined);
  socket.once('close', () => clearInterval(timer));
}

function tryAddress(address: string, port: number, signal: AbortSignal): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const socket = connect({ host: address, port });
    const giveUp = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('error', giveUp);
    socket.once('connect', () => {
      signal.removeEventListener('abort', giveUp);
      socket.off('error', giveUp);
      resolve(socket);
    });
  });
}
