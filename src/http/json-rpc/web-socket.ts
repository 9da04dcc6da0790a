import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { EventLog } from '../../events/event.ts';
import type { InvocableOperation } from '../../operations/invoke.ts';
import type { Caller } from '../../tools/tool-types.ts';
import type { Authenticate, IsCurrent } from '../auth.ts';
import { refuseStranger } from '../routes.ts';
import type { TicketOffice } from '../tickets.ts';
import { closeCodes, serveConnection } from './connection.ts';
import { describeMethods } from './open-rpc.ts';

const maxConnections = 256;

/** What the WebSocket door is made of. */
export interface WebSocketParts {
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly events: EventLog;
  readonly authenticate: Authenticate;
  readonly isCurrent: IsCurrent;
  readonly tickets: TicketOffice;
  readonly maxMessageBytes: number;
  readonly log: Logger;
}

/** The open connections. */
export interface WebSockets {
  /** Says goodbye to every client. */
  close(): void;
}

/** Serves WS /ws. A token or ticket in the handshake is checked there; without one the first message must be `auth`. */
export async function registerWebSocket(app: FastifyInstance, parts: WebSocketParts): Promise<WebSockets> {
  const sockets = new Set<WebSocket>();
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
    scope.route({
      method: 'GET',
      url: '/ws',
      websocket: true,
      onRequest: (request, _reply, done) => {
        const { authorization } = request.headers;
        const ticket = readTicket(request.query);
        request.opener = ticket === undefined ? authenticate(authorization) : redeem(ticket);
        const showedSomething = ticket !== undefined || authorization !== undefined;
        if (request.opener === undefined && showedSomething) return done(refuseStranger(authorization ?? ''));
        if (sockets.size >= maxConnections) {
          return done(
            new HotcellError('rate-limited', `${maxConnections} connections are open, and more are not served at once.`),
          );
        }
        done();
      },
      handler: (socket, request) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        serveConnection({
          ...parts,
          socket,
          caller: request.opener,
          identify: ({ token, ticket }) => {
            if (typeof ticket === 'string') return redeem(ticket);
            return typeof token === 'string' ? authenticate(`Bearer ${token}`) : undefined;
          },
          discover: () => describeMethods([...parts.operations.values()].map(({ operation }) => operation)),
        });
      },
    });
  });
  return {
    close() {
      for (const socket of sockets) {
        socket.close(closeCodes.stopping, 'daemon stops');
        // A client that does not answer the goodbye must not hold the daemon up.
        setTimeout(() => socket.terminate(), 1000).unref();
      }
    },
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
  }
}
