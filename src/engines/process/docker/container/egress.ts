import type { Duplex } from 'node:stream';
import type { CommandRequest } from '../../../../border/container-command.ts';
import { serveProxy } from '../../../../border/serve-proxy.ts';
import { toInit } from '../init/init-frames.ts';
import type { InitLink } from '../init/init-link.ts';

const maxConnections = 64;

/**
 * Takes the connections that come out of a container and serves each as a proxy: it is `dial` that decides where they may go,
 * with the one check of the network. Without it none is taken.
 */
export function createEgress(link: InitLink, dial: CommandRequest['dial']) {
  const sockets = new Set<Duplex>();
  const ending = new AbortController();
  return {
    /** A connection was made inside the container. */
    accept: (channel: number): void => {
      if (dial === undefined || sockets.size >= maxConnections) return void link.send(toInit.close, channel);
      const socket = link.open(channel);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      void serveProxy(socket, dial, ending.signal);
    },
    /** Ends all connections. */
    close: (): void => {
      ending.abort();
      for (const socket of sockets) socket.destroy();
    },
  };
}
