import { finished } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { McpDoor, McpDoorParts } from '../mcp-door/mcp-door.ts';
import type { McpClientView } from '../operations/contracts/mcp.ts';
import { type Authenticate, admit, refuseEnded } from './admission/auth.ts';
import type { DoorShares } from './admission/shares.ts';
import { toHotcellError } from './problem-reply.ts';
import { freeAnswerBytes } from './streams/unread-answers.ts';

/** What the route is served with. */
export interface McpRouteParts extends McpDoorParts {
  readonly url: '/mcp' | '/mcp/manage';
  readonly authenticate: Authenticate;
  readonly shares: Pick<DoorShares, 'streams' | 'unread'>;
}

/** The route, once it is registered. */
export interface McpRoute {
  /** Who spoke MCP with it lately. */
  readonly list: () => Promise<McpClientView[]>;
  readonly close: () => void;
}

/** A client that lets more than this wait to be read listens no more. */
const maxPendingBytes = 1024 * 1024;

/** Serves MCP at `url`: streamable HTTP, both eras. What speaks it is loaded with the first request: others need not wait
 * for it. */
export function registerMcpRoute(app: FastifyInstance, parts: McpRouteParts): McpRoute {
  let opening: Promise<McpDoor> | undefined;
  const open = (): Promise<McpDoor> => {
    opening ??= import('../mcp-door/mcp-door.ts').then(({ createMcpDoor }) => createMcpDoor(parts));
    return opening;
  };
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: parts.url,
    onRequest: admit(parts.authenticate, { mayBeAnonymous: true }),
    handler: async (request, reply) => {
      const door = await open();
      // The body may have taken its time: a session that began with rights that ended since would keep them.
      if (!parts.isCurrent(request.caller)) throw refuseEnded();
      const response = await door.handle(toWebRequest(request, reply), request.body, request.caller);
      return sendResponse(response, request, reply, parts);
    },
    errorHandler: (thrown, request, reply) => {
      const error = toHotcellError(thrown, parts.log);
      if (error.status === 401) {
        const metadata = `http://${request.headers.host}${metadataPath}${parts.url}`;
        reply.header('www-authenticate', `Bearer realm="hotcell", resource_metadata="${metadata}"`);
      }
      const code = error.status >= 500 ? internalError : error.code === 'body-invalid' ? parseError : invalidRequest;
      const data = { code: error.code, fix: error.fix };
      return reply
        .code(error.status)
        .type('application/json; charset=utf-8')
        .send(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: error.message, data } }));
    },
  });
  // What a client that looks for an authorization server finds: there is none, a key is handed over by the operator.
  app.get(`${metadataPath}${parts.url}`, (request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(
      JSON.stringify({
        resource: `http://${request.headers.host}${parts.url}`,
        authorization_servers: [],
        bearer_methods_supported: ['header'],
        resource_name: 'Hotcell',
      }),
    ),
  );
  return {
    list: async () => (await opening)?.list() ?? [],
    close: () => void opening?.then((door) => door.close()),
  };
}

const metadataPath = '/.well-known/oauth-protected-resource';
const parseError = -32700;
const invalidRequest = -32600;
const internalError = -32603;

/** Why the signal of a request aborts; made once, since every request ends so. */
const answerOver = new Error('The answer was read, or its client is gone.');

/** A request without its body, which was read and counted already. */
export function toWebRequest(request: FastifyRequest, reply: FastifyReply): Request {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort(answerOver));
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === 'string') headers.set(name, value);
  return new Request(`http://${request.headers.host ?? 'localhost'}${request.url}`, {
    method: request.method,
    headers,
    signal: controller.signal,
  });
}

/** Sends an answer; as a stream it counts among those of its caller, who is cut off where it lets too much wait. */
export async function sendResponse(
  response: Response,
  request: FastifyRequest,
  reply: FastifyReply,
  { shares }: Pick<McpRouteParts, 'shares'>,
): Promise<FastifyReply> {
  const headers = Object.fromEntries(response.headers);
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  if (!isStream || response.body === null) {
    return reply
      .code(response.status)
      .headers(headers)
      .send(response.body === null ? undefined : await response.text());
  }
  const { caller } = request;
  const { raw } = reply;
  let release: () => void;
  try {
    release = shares.streams.take(caller);
  } catch (error) {
    await response.body.cancel();
    throw error;
  }
  reply.hijack();
  finished(raw, release);
  raw.writeHead(response.status, headers);
  raw.flushHeaders();
  const reader = response.body.getReader();
  const end = (): void => void reader.cancel().catch(() => {});
  raw.once('close', end);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || raw.destroyed) break;
      // It is read on in any case: what a client does not take would else wait where nobody counts it.
      if (raw.writableLength > maxPendingBytes) {
        raw.destroy();
        break;
      }
      const forget = value.length > freeAnswerBytes ? shares.unread.hold(caller, value.length, () => raw.destroy()) : undefined;
      raw.write(value, forget);
    }
    raw.end();
  } catch {
    raw.destroy();
  }
  return reply;
}
