import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createPlain } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { WebSocketServer } from 'ws';
import { createUser } from '../../../capabilities/capability-user.ts';
import { createFetching } from '../../../capabilities/network/fetching.ts';
import { selfSigned } from '../../../capabilities/network/self-signed.ts';
import type { TryOptions } from './deno-rig.ts';

/**
 * Servers of this machine: one that sends bytes back in capitals, and speaks TLS after the byte `*`; one for HTTP and
 * WebSockets; one for HTTPS and WebSockets over TLS.
 */
export interface Places {
  readonly shout: number;
  readonly plain: number;
  readonly secure: number;
  /** The path of a pipe that the first one listens at, too. */
  readonly pipe: string;
  /** Connections that any of them took. */
  readonly taken: () => number;
  readonly close: () => Promise<void>;
}

/** Starts the servers on loopback. */
export async function startPlaces(): Promise<Places> {
  let taken = 0;
  const shout = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      if (chunk.toString() !== '*') return void socket.write(chunk.toString('latin1').toUpperCase(), 'latin1');
      socket.removeAllListeners('data');
      socket.write('*');
      const secure = new TLSSocket(socket, { isServer: true, ...selfSigned });
      secure.on('error', () => undefined).on('data', (bytes) => secure.write(bytes.toString().toUpperCase()));
    });
  });
  const plain = createPlain((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const type = { '/a.js': 'text/javascript', '/events': 'text/event-stream' }[request.url ?? ''] ?? 'text/plain';
    response.setHeader('content-type', type);
    if (request.url === '/a.js') return void response.end('export default 1');
    if (request.url === '/events') return void response.write('data: 1\n\n');
    request.on('end', () => response.end(request.url === '/big' ? Buffer.alloc(3_000_000, 'x') : `${request.method} ${bytes}`));
  });
  const secure = createSecure(selfSigned, (request, response) => response.end(`secure ${request.url}`));
  for (const server of [plain, secure]) {
    new WebSocketServer({ server, handleProtocols: (names) => [...names][0] ?? false }).on('connection', (socket, request) => {
      socket.send(`hello ${request.headers['x-who'] ?? ''}`);
      socket.on('message', (data, isBinary) =>
        String(data) === 'bye' ? socket.close(4001, 'as asked') : socket.send(data, { binary: isBinary }),
      );
    });
  }
  const servers: readonly Server[] = [shout, plain, secure];
  const ports = await Promise.all(servers.map(listen));
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-pipe-'));
  const pipe = join(folder, 'pipe');
  const piped = createServer();
  await new Promise<void>((resolve) => piped.listen(pipe, resolve));
  for (const server of [...servers, piped]) server.on('connection', () => taken++);
  const [first = 0, second = 0, third = 0] = ports;
  return {
    shout: first,
    plain: second,
    secure: third,
    pipe,
    taken: () => taken,
    async close() {
      plain.closeAllConnections();
      secure.closeAllConnections();
      await Promise.all([...servers, piped].map((server) => new Promise((resolve) => server.close(resolve))));
      rmSync(folder, { recursive: true });
    },
  };
}

const names = {
  'secure.test': ['127.0.0.1'],
  'loopback.lan.test': ['127.0.0.1'],
  'metadata.lan.test': ['169.254.169.254'],
  'gateway.lan.test': ['172.17.0.1'],
};

/** What dials for a call that was granted `net`, with the real check of the network; `revoke` takes the grant back. */
export function dialling(net: readonly string[]): Required<Pick<TryOptions, 'dial'>> & { readonly revoke: () => void } {
  const { capability } = createFetching(names);
  const user = createUser({ net });
  return { dial: (to, signal) => capability.dial(to, user, signal), revoke: () => user.grant({}) };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}
