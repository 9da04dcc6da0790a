import { createServer as createPlain } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createUser } from '../../capabilities/capability-user.ts';
import { createFetching } from '../../capabilities/network/fetching.ts';
import { selfSigned } from '../../capabilities/network/self-signed.ts';
import type { TryOptions } from './deno-rig.ts';

/** Servers of this machine: one that sends lines back in capitals, one for HTTP, one for HTTPS. */
export interface Places {
  readonly shout: number;
  readonly plain: number;
  readonly secure: number;
  /** Connections that any of them took. */
  readonly taken: () => number;
  readonly close: () => Promise<void>;
}

/** Starts the servers on loopback. */
export async function startPlaces(): Promise<Places> {
  let taken = 0;
  const shout = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => socket.write(chunk.toString('latin1').toUpperCase(), 'latin1'));
  });
  const plain = createPlain((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.end(request.url === '/big' ? Buffer.alloc(3_000_000, 'x') : `${request.method} ${bytes}`));
  });
  const secure = createSecure(selfSigned, (request, response) => response.end(`secure ${request.url}`));
  const servers: readonly Server[] = [shout, plain, secure];
  const ports = await Promise.all(servers.map(listen));
  for (const server of servers) server.on('connection', () => taken++);
  const [first = 0, second = 0, third = 0] = ports;
  return {
    shout: first,
    plain: second,
    secure: third,
    taken: () => taken,
    async close() {
      plain.closeAllConnections();
      secure.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** What dials for a call that was granted `net`, with the real check of the network. */
export function dialling(net: readonly string[]): Required<Pick<TryOptions, 'dial'>> {
  const { capability } = createFetching({ 'secure.test': ['127.0.0.1'], 'inside.test': ['10.0.0.7'] });
  const user = createUser({ net });
  return { dial: (to, signal) => capability.dial(to, user, signal) };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}
