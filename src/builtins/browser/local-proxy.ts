import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import type { CommandRequest } from '../../border/container-command.ts';
import { serveProxy } from '../../border/serve-proxy.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

const maxConnections = 64;
const username = 'hotcell';

/** Opens a proxy on this machine for one program, which alone knows its credentials. It is `dial` that decides where its connections may go, with the one check of the network. */
export async function openLocalProxy(dial: NonNullable<CommandRequest['dial']>) {
  const password = randomBytes(24).toString('base64url');
  const expected = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`);
  const isAdmitted = (credentials: string): boolean => {
    const given = Buffer.from(credentials);
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
  const ending = new AbortController();
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    void serveProxy(socket, dial, ending.signal, isAdmitted);
  });
  server.maxConnections = maxConnections;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new HotcellError('engine-failed', 'No port of this machine is free.');
  return {
    port: address.port,
    username,
    password,
    /** Ends it with all its connections. */
    close(): void {
      ending.abort();
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
