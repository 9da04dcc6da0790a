import type { FastifyInstance } from 'fastify';
import type { WebSocket } from 'ws';
import type { Caller } from '../callers/caller.ts';
import { isObject, readJson } from '../config/json-object.ts';
import type { GatewayReply, StoredResponse } from '../gateway/gateway-types.ts';
import { type Authenticate, admit, type IsCurrent, refuseEnded } from './admission/auth.ts';
import type { DoorShares } from './admission/shares.ts';
import { type GatewayRoutes, readKey } from './gateway-route.ts';
import { closeAtOnce, closeCodes } from './json-rpc/connection.ts';

/** What the socket is served with. */
export interface ResponsesSocketParts {
  readonly routes: GatewayRoutes;
  readonly authenticate: Authenticate;
  readonly isCurrent: IsCurrent;
  readonly watchKeys: (changed: () => void) => () => void;
  readonly shares: Pick<DoorShares, 'sockets'>;
  readonly answers: { take(caller: Caller): () => void };
}

/** The standard lets a connection live so long. */
const maxConnectionMs = 3_600_000;
/** Turns that wait for the one before. */
const maxWaiting = 16;
/** Responses that a connection keeps for requests that store nothing. */
const maxLocal = 8;
const unreadMs = 60_000;

/** Serves WS /v1/responses in a scope that has WebSockets: turns one after the other, with the events of the stream as messages. */
export function registerResponsesSocket(scope: FastifyInstance, parts: ResponsesSocketParts): () => void {
  const sockets = new Map<WebSocket, Caller>();
  const unwatch = parts.watchKeys(() => {
    for (const [socket, caller] of sockets) if (!parts.isCurrent(caller)) socket.terminate();
  });
  scope.route({
    method: 'GET',
    url: '/v1/responses',
    websocket: true,
    onRequest: [
      admit(parts.authenticate, { readKey }),
      ({ raw, caller }, _reply, done) => {
        raw.socket.once('close', parts.shares.sockets.take(caller));
        done();
      },
    ],
    handler: (socket, { caller, headers }) => {
      sockets.set(socket, caller);
      const ended = new AbortController();
      const limit = setTimeout(() => {
        void say(
          socket,
          errorOf(400, 'websocket_connection_limit_reached', 'The connection was open for an hour. Open a new one and go on.'),
        );
        socket.close(1000, 'connection limit');
      }, maxConnectionMs);
      socket.once('close', () => {
        sockets.delete(socket);
        clearTimeout(limit);
        ended.abort(new Error('The connection is closed.'));
      });
      serveTurns(socket, { ...parts, caller, headers, signal: ended.signal });
    },
  });
  return () => {
    unwatch();
    for (const socket of sockets.keys()) {
      socket.close(closeCodes.stopping, 'daemon stops');
      setTimeout(() => socket.terminate(), 1000).unref();
    }
  };
}

interface Turns extends ResponsesSocketParts {
  readonly caller: Caller;
  readonly headers: Parameters<typeof readKey>[0]['headers'];
  readonly signal: AbortSignal;
}

function serveTurns(socket: WebSocket, turns: Turns): void {
  const local = new Map<string, StoredResponse>();
  let waiting = 0;
  let last = Promise.resolve();
  socket.on('message', (data, isBinary) => {
    if (waiting >= maxWaiting) return closeAtOnce(socket, closeCodes.crowded, 'too many turns wait');
    waiting += 1;
    last = last.then(async () => {
      waiting -= 1;
      await takeTurn(socket, turns, local, isBinary ? undefined : readJson(String(data))).catch(() => socket.terminate());
    });
  });
}

async function takeTurn(socket: WebSocket, turns: Turns, local: Map<string, StoredResponse>, message: unknown): Promise<void> {
  if (turns.signal.aborted) return;
  if (!isObject(message) || message.type !== 'response.create') {
    return say(socket, errorOf(400, 'invalid_request', 'Expected a JSON object with the type "response.create".'));
  }
  const { caller, headers, signal } = turns;
  if (!turns.isCurrent(caller)) return say(socket, errorOf(401, 'unauthenticated', refuseEnded().message));
  const { type, event_id, stream_id, background, ...body } = message;
  const door = await turns.routes.open();
  let release: () => void;
  try {
    release = turns.answers.take(caller);
  } catch (error) {
    return say(socket, errorOf(429, 'rate_limit_exceeded', error instanceof Error ? error.message : ''));
  }
  try {
    const asked = { headers, query: {}, body: { ...body, stream: true }, caller, signal, local };
    await pass(socket, await door.answer('openai-responses', asked));
    for (const id of local.keys()) if (local.size > maxLocal) local.delete(id);
  } finally {
    release();
  }
}

/** The events of a stream, as messages; a refusal is one event. */
async function pass(socket: WebSocket, { status, body }: GatewayReply): Promise<void> {
  if (typeof body === 'string') {
    const { error } = Object(readJson(body));
    return say(socket, { type: 'error', status, error: isObject(error) ? error : { code: 'server_error', message: '' } });
  }
  for await (const chunk of body) {
    for (const [, data = ''] of String(chunk).matchAll(/^data: (.*)$/gm)) await sendText(socket, data);
  }
}

function errorOf(status: number, code: string, message: string): object {
  return { type: 'error', status, error: { type: 'invalid_request_error', code, message, param: null } };
}

function say(socket: WebSocket, value: object): Promise<void> {
  return sendText(socket, JSON.stringify(value));
}

/** Resolves when the message left: a client that does not read holds its own turn up, and is left in the end. */
function sendText(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.readyState !== socket.OPEN) return reject(new Error('The connection is closed.'));
    const timer = setTimeout(() => socket.terminate(), unreadMs);
    socket.send(text, (error) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve();
    });
  });
}
