import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { CheckedDestination } from './network-check.ts';
import type { OutgoingRequest } from './request-headers.ts';

const maxPools = 64;
// As many sockets as there are requests: waiting ones cost little, and none waits behind a slow one.
const poolOptions = {
  connections: null,
  pipelining: 1,
  allowH2: false,
  keepAliveTimeout: 4000,
  maxHeaderSize: 64 * 1024,
} as const;

/** Sends requests to destinations that were checked; sockets are kept for a short while. */
export type Connections = ReturnType<typeof createConnections>;

/**
 * Makes the connections. `timeoutMs` bounds the wait for one address to answer; with `isPatient` the answer itself may take as
 * long as the signal of the request lets it.
 */
export function createConnections({
  timeoutMs,
  isPatient = false,
}: {
  readonly timeoutMs: number;
  readonly isPatient?: boolean;
}) {
  const answerMs = isPatient ? 0 : timeoutMs;
  const pools = new Map<string, Pool>();
  return {
    /** `owner` keeps sockets apart: a connection may carry a login. */
    send: (
      destination: CheckedDestination,
      owner: string,
      request: OutgoingRequest,
      signal: AbortSignal,
    ): Promise<Dispatcher.ResponseData> =>
      openPool(pools, destination, owner, timeoutMs).request({
        path: `${destination.url.pathname}${destination.url.search}`,
        method: request.method,
        headers: request.headers.flat(),
        body: request.body ?? null,
        headersTimeout: answerMs,
        bodyTimeout: answerMs,
        signal,
      }),
    close: async (): Promise<void> => {
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map((pool) => pool.destroy()));
    },
  };
}

/** Addresses are part of the key: a socket is used again only for a request that was checked for the same addresses. */
function openPool(pools: Map<string, Pool>, destination: CheckedDestination, owner: string, timeoutMs: number): Pool {
  const { origin } = destination.url;
  const key = JSON.stringify([owner, origin, destination.addresses]);
  const pool = pools.get(key) ?? new Pool(origin, { ...poolOptions, connect: createConnector(destination.addresses, timeoutMs) });
  pools.delete(key);
  pools.set(key, pool);
  const [oldest] = pools;
  if (oldest !== undefined && pools.size > maxPools) {
    pools.delete(oldest[0]);
    void oldest[1].close();
  }
  return pool;
}

/** Connects to the checked addresses, one after the other, and never to what a name means by now. */
function createConnector(addresses: readonly string[], timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ allowH2: false, timeout: timeoutMs });
  return (options, callback) => {
    const tryAddress = (index: number, failure: Error): void => {
      const address = addresses[index];
      if (address === undefined) {
        callback(failure, null);
        return;
      }
      connect({ ...options, hostname: address }, (...[error, socket]) => {
        if (error) tryAddress(index + 1, error);
        else callback(null, socket);
      });
    };
    tryAddress(0, new Error('no address'));
  };
}
