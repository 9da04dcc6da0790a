import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { Caller } from '../../callers/caller.ts';
import type { KeyRing } from '../../callers/key-ring.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { EventLog } from '../../events/event.ts';
import type { InvocableOperation } from '../../operations/invoke.ts';
import type { Authenticate, IsCurrent } from '../admission/auth.ts';
import type { ConnectionBook } from '../admission/connection-count.ts';
import type { DoorShares } from '../admission/shares.ts';
import type { TicketOffice } from '../admission/tickets.ts';
import { closeAtOnce, closeCodes, serveConnection } from './connection.ts';
import { describeMethods } from './open-rpc.ts';

const maxAnonymous = quotas['door.anonymousSockets'].inAll;

/** What the WebSocket door is made of. */
export interface WebSocketParts {
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly events: EventLog;
  readonly authenticate: Authenticate;
  readonly isCurrent: IsCurrent;
  /** Tells of keys that were changed or revoked: their connections end. */
  readonly watchKeys: KeyRing['watch'];
  readonly tickets: TicketOffice;
  readonly shares: DoorShares;
  readonly connections: ConnectionBook;
  readonly maxMessageBytes: number;
  readonly pingEveryMs: number;
  readonly log: Logger;
  /** Registers further routes that are WebSockets. */
  readonly more?: (scope: FastifyInstance) => void;
}

function refuseOpener(ticket: string | undefined): HotcellError {
  const what =
    ticket === undefined
      ? 'a token or key that is known, got one that is not, or was revoked'
      : 'a ticket that works once and for 30 seconds, got one that does not work any more';
  return new HotcellError('unauthenticated', `Expected ${what}.`, {
    fix: 'Send Authorization: Bearer <token>. A browser, which cannot, asks POST /api/tickets for a ticket and opens /ws?ticket=…; or open /ws and send auth {token} first.',
  });
}

/** Serves WS /ws. A token or ticket in the handshake is checked there; without one the first message must be `auth`. Returns what says goodbye to every client. */
export async function registerWebSocket(app: FastifyInstance, parts: WebSocketParts): Promise<() => void> {
  const sockets = new Map<WebSocket, ReturnType<typeof serveConnection>>();
  /** Those that did not say yet who they are, in the order in which they came. */
  const anonymous = new Set<WebSocket>();
  const answered = new WeakSet<WebSocket>();
  const { shares, connections } = parts;
  const pings = setInterval(ping, parts.pingEveryMs).unref();

  /** A client whose machine is gone says no goodbye: whoever left the last ping without an answer is closed. */
  function ping(): void {
    for (const [socket, { endOutdated }] of sockets) {
      if (!answered.delete(socket)) socket.terminate();
      else socket.ping();
      endOutdated();
    }
  }

  function admitAnonymous(socket: WebSocket): void {
    const [oldest] = anonymous;
    if (oldest !== undefined && anonymous.size >= maxAnonymous) {
      anonymous.delete(oldest);
      closeAtOnce(oldest, closeCodes.crowded, 'too many connections wait for auth');
    }
    anonymous.add(socket);
  }

  const { authenticate, isCurrent, tickets } = parts;
  // The key that a ticket was made with may have ended meanwhile.
  const redeem = (ticket: string): Caller | undefined => {
    const caller = tickets.redeem(ticket);
    return caller !== undefined && isCurrent(caller) ? caller : undefined;
  };
  await app.register(async (scope) => {
    await scope.register(websocket, {
      options: { maxPayload: parts.maxMessageBytes, perMessageDeflate: false },
      errorHandler: (_error, socket) => socket.terminate(),
      // The server says goodbye itself, with a reason.
      preClose: (done) => done(),
    });
    scope.decorateRequest('opener', undefined);
    scope.decorateRequest('place', undefined);
    parts.more?.(scope);
    scope.route({
      method: 'GET',
      url: '/ws',
      websocket: true,
      onRequest: (request, _reply, done) => {
        const { authorization } = request.headers;
        const ticket = readTicket(request.query);
        request.opener = ticket === undefined ? authenticate(authorization) : redeem(ticket);
        const showedSomething = ticket !== undefined || authorization !== undefined;
        if (request.opener === undefined && showedSomething) return done(refuseOpener(ticket));
        request.place = request.opener && shares.sockets.take(request.opener);
        // Whoever goes away before the handshake ends leaves a place behind.
        if (request.place !== undefined) request.raw.socket.once('close', request.place);
        done();
      },
      handler: (socket, request) => {
        answered.add(socket);
        socket.on('pong', () => answered.add(socket));
        socket.once('close', () => {
          sockets.delete(socket);
          anonymous.delete(socket);
        });
        if (request.opener === undefined) admitAnonymous(socket);
        const connection = serveConnection({
          ...parts,
          socket,
          raw: request.raw.socket,
          caller: request.opener,
          enter(caller) {
            connections.assign(request.raw.socket, caller);
            const before = request.place;
            request.place = shares.sockets.take(caller);
            before?.();
            anonymous.delete(socket);
            socket.once('close', request.place);
          },
          identify: ({ token, ticket }) => {
            if (typeof ticket === 'string') return redeem(ticket);
            return typeof token === 'string' ? authenticate(`Bearer ${token}`) : undefined;
          },
          discover: () => describeMethods([...parts.operations.values()].map(({ operation }) => operation)),
        });
        sockets.set(socket, connection);
      },
    });
  });
  const unwatchKeys = parts.watchKeys(() => {
    for (const { endOutdated } of sockets.values()) endOutdated();
  });
  return () => {
    unwatchKeys();
    clearInterval(pings);
    for (const socket of sockets.keys()) {
      socket.close(closeCodes.stopping, 'daemon stops');
      // A client that does not answer the goodbye must not hold the daemon up.
      setTimeout(() => socket.terminate(), 1000).unref();
    }
  };
}

function readTicket(query: unknown): string | undefined {
  if (typeof query !== 'object' || query === null || !('ticket' in query)) return undefined;
  return typeof query.ticket === 'string' ? query.ticket : undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who opened a WebSocket, when the handshake told. */
    opener: Caller | undefined;
    /** Gives the place of the opener among its WebSockets back. */
    place: (() => void) | undefined;
  }
}
