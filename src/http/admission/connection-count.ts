import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Caller } from '../../callers/caller.ts';
import { quotas } from '../../config/quotas.ts';
import type { Shares } from './shares.ts';

/** Who holds the connections of a server. */
export interface ConnectionBook {
  /** This connection belongs to a caller from now on. Throws `rate-limited` when the caller has too many. */
  assign(socket: Socket, caller: Caller): void;
  /** Ends the connections that never sent a request; Node does not count them as idle, and a server that closes would wait for them. */
  endUnused(): void;
}

interface Holder {
  readonly callerId: string;
  readonly release: () => void;
}

/**
 * Counts the connections of a server. One that showed no token or key is anonymous; of those only the newest stay, so
 * that whoever opens many ends its own and never keeps somebody out who says at once who it is.
 */
export function createConnectionBook(server: Server, shares: Shares, maxAnonymous: number): ConnectionBook {
  // In the order in which they came.
  const anonymous = new Set<Socket>();
  const unused = new Set<Socket>();
  const holders = new WeakMap<Socket, Holder>();
  const noteUse = ({ socket }: { readonly socket: Socket }) => void unused.delete(socket);
  server.on('request', noteUse);
  server.on('upgrade', noteUse);

  server.on('connection', (socket: Socket) => {
    const [oldest] = anonymous;
    if (oldest !== undefined && anonymous.size >= maxAnonymous) {
      anonymous.delete(oldest);
      oldest.destroy();
    }
    anonymous.add(socket);
    unused.add(socket);
    socket.once('close', () => {
      anonymous.delete(socket);
      unused.delete(socket);
      holders.get(socket)?.release();
    });
  });

  return {
    assign(socket, caller) {
      const holder = holders.get(socket);
      if (holder?.callerId === caller.id || socket.destroyed) return;
      const release = shares.take(caller);
      holder?.release();
      holders.set(socket, { callerId: caller.id, release });
      anonymous.delete(socket);
    },
    endUnused() {
      for (const socket of unused) socket.destroy();
    },
  };
}

/** How many connections this machine bears: files, plugins and containers need descriptors, too. */
export function fitConnections(descriptors: number | undefined = readDescriptorLimit()): {
  readonly holds: string;
  readonly perCaller: number;
  readonly inAll: number;
  readonly reserve: number;
  readonly maxAnonymous: number;
} {
  const { holds, perCaller, inAll, reserve } = quotas['door.connections'];
  const maxAnonymous = quotas['door.anonymous'].inAll;
  // Half of the descriptors for all connections together.
  const scale = Math.min(1, (descriptors ?? Number.POSITIVE_INFINITY) / 2 / (inAll + maxAnonymous));
  const scaled = (count: number): number => Math.max(1, Math.floor(count * scale));
  return {
    holds,
    perCaller: scaled(perCaller),
    inAll: scaled(inAll),
    reserve: scaled(reserve),
    maxAnonymous: scaled(maxAnonymous),
  };
}

function readDescriptorLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  }
}
