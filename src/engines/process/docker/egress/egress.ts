import type { CommandRequest } from '../../../../border/container-command.ts';
import { serveProxy } from '../../../../border/serve-proxy.ts';
import { fromInit, type InitFrame, toInit } from '../init/init-frames.ts';
import type { InitLink } from '../init/init-link.ts';
import { RelayedSocket } from './relayed-socket.ts';

/** The connections that a command makes to its proxy. */
export interface Egress {
  /** A frame of one of the connections. */
  hear(frame: InitFrame): void;
  /** All that was written to a connection was sent. */
  drain(channel: number): void;
  /** Ends all connections. */
  close(): void;
}

const maxConnections = 64;

/**
 * Takes the connections that come out of a container and serves each as a proxy: it is `dial` that decides where they may go,
 * with the one check of the network.
 */
export function createEgress({
  link,
  dial,
}: {
  readonly link: InitLink;
  readonly dial: NonNullable<CommandRequest['dial']>;
}): Egress {
  const sockets = new Map<number, RelayedSocket>();
  const ending = new AbortController();
  const accept = (channel: number): void => {
    if (sockets.size >= maxConnections || sockets.has(channel)) {
      link.send(toInit.close, channel);
      return;
    }
    const socket = new RelayedSocket(link, channel);
    sockets.set(channel, socket);
    socket.once('close', () => {
      sockets.delete(channel);
      link.forget(channel);
    });
    void serveProxy(socket, dial, ending.signal);
  };
  return {
    hear: ({ type, channel, payload }) => {
      const socket = sockets.get(channel);
      if (type === fromInit.accept) accept(channel);
      else if (type === fromInit.data) socket?.takeData(payload);
      else if (type === fromInit.end) socket?.takeEnd();
      else if (type === fromInit.close) socket?.takeClose();
      else if (type === fromInit.ack && payload.length >= 4) link.acknowledge(channel, payload.readUInt32LE(0));
    },
    drain: (channel) => sockets.get(channel)?.takeDrain(),
    close: () => {
      ending.abort();
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}
