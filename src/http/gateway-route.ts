import { once } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Gateway, GatewayParts } from '../gateway/gateway.ts';
import type { GatewayReply, GatewayRequest } from '../gateway/gateway-types.ts';
import type { WireFormatName } from '../models/wire/wire-format.ts';
import { type Authenticate, refuseAnonymous } from './admission/auth.ts';
import { toHotcellError } from './problem-reply.ts';

/** What the routes are served with. */
export interface GatewayRouteParts extends GatewayParts {
  readonly authenticate: Authenticate;
  readonly log: Logger;
}

const maxBodyBytes = 32 * 1024 * 1024;
/** A client that takes nothing for so long is gone. */
const unreadMs = 60_000;

type Answer = (gateway: Gateway, request: GatewayRequest, params: Readonly<Record<string, string>>) => Promise<GatewayReply>;

/** Serves clients of models in the formats of the providers. What serves them is loaded with the first request. */
export function registerGatewayRoutes(app: FastifyInstance, parts: GatewayRouteParts): { readonly close: () => void } {
  let opening: Promise<Gateway> | undefined;
  const open = (): Promise<Gateway> => {
    opening ??= import('../gateway/gateway.ts').then(({ createGateway }) => createGateway(parts));
    return opening;
  };

  function serve(method: 'GET' | 'POST' | 'DELETE', url: string, format: WireFormatName, answer: Answer): void {
    app.route({
      method,
      url,
      bodyLimit: maxBodyBytes,
      onRequest: (request, _reply, done) => {
        const authorization = readKey(request);
        const caller = parts.authenticate(authorization);
        if (caller === undefined) return done(refuseAnonymous(authorization));
        request.caller = caller;
        done();
      },
      handler: async (request, reply) => {
        const gateway = await open();
        const controller = new AbortController();
        reply.raw.once('close', () => controller.abort(clientGone));
        const { headers, query, body, caller, params } = request;
        const asked = { headers, query: Object(query), body, caller, signal: controller.signal };
        return send(reply, await answer(gateway, asked, Object(params)));
      },
      errorHandler: async (thrown, _request, reply) => {
        const { replyError } = await import('../gateway/gateway.ts');
        return send(reply, replyError(format, toHotcellError(thrown, parts.log)));
      },
    });
  }

  serve('POST', '/v1/chat/completions', 'openai-chat', (gateway, request) => gateway.answer('openai-chat', request));
  serve('POST', '/v1/responses', 'openai-responses', (gateway, request) => gateway.answer('openai-responses', request));
  serve('POST', '/v1/messages', 'anthropic', (gateway, request) => gateway.answer('anthropic', request));
  serve('POST', '/v1beta/models/*', 'gemini', (gateway, request, params) => gateway.answerGemini(params['*'] ?? '', request));
  return { close: () => {} };
}

/** Why the signal of a request aborts; made once, since every request ends so. */
const clientGone = new Error('The answer was read, or its client is gone.');

/** Clients of each provider show their key in another place; here it is a key of the daemon. */
function readKey({ headers, query }: FastifyRequest): string | undefined {
  if (headers.authorization !== undefined) return headers.authorization;
  const key = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? Object(query).key;
  return typeof key === 'string' ? `Bearer ${key}` : undefined;
}

async function send(reply: FastifyReply, { status, headers, body }: GatewayReply): Promise<FastifyReply> {
  if (typeof body === 'string') return reply.code(status).headers(headers).send(body);
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(status, headers);
  raw.flushHeaders();
  try {
    for await (const chunk of body) {
      if (raw.destroyed) break;
      if (!raw.write(chunk)) await waitForReader(raw);
    }
    raw.end();
  } catch {
    // What was begun cannot be taken back: the client sees that it broke off.
    raw.destroy();
  }
  return reply;
}

async function waitForReader(raw: FastifyReply['raw']): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => raw.destroy(), unreadMs);
  try {
    await Promise.race([once(raw, 'drain', { signal: over.signal }), once(raw, 'close', { signal: over.signal })]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
