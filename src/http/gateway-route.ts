import { once } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Caller } from '../callers/caller.ts';
import { modelFormats } from '../config/settings/model-formats.ts';
import type { Gateway, GatewayParts } from '../gateway/gateway.ts';
import type { GatewayReply, GatewayRequest } from '../gateway/gateway-types.ts';
import type { WireFormatName } from '../models/wire/wire-format.ts';
import { type Authenticate, admit, type IsCurrent, refuseEnded } from './admission/auth.ts';
import type { Shares } from './admission/shares.ts';
import { maxModelBodyBytes } from './body-limits.ts';
import { toHotcellError } from './problem-reply.ts';

/** What the routes are served with. */
export interface GatewayRouteParts extends GatewayParts {
  readonly authenticate: Authenticate;
  readonly isCurrent: IsCurrent;
  readonly watchKeys: (changed: () => void) => () => void;
  /** Answers under way. */
  readonly shares: Shares;
  readonly log: Logger;
}

/** The routes, once they are registered. */
export interface GatewayRoutes {
  readonly open: () => Promise<Gateway>;
  /** Answers a failure in the format of the client. */
  readonly refuse: (request: FastifyRequest, reply: FastifyReply, failure: unknown) => Promise<FastifyReply>;
  readonly close: () => void;
}

/** A client that takes nothing for so long is gone. */
const unreadMs = 60_000;

type Answer = (door: Gateway, request: GatewayRequest, rest: string) => Promise<GatewayReply>;

/** Serves clients of models in the formats of the providers. What serves them is loaded with the first request. */
export function registerGatewayRoutes(app: FastifyInstance, parts: GatewayRouteParts): GatewayRoutes {
  let opening: Promise<Gateway> | undefined;
  const open = (): Promise<Gateway> => {
    opening ??= import('../gateway/gateway.ts').then(({ createGateway }) => createGateway(parts));
    return opening;
  };
  const refuseIn = async (format: WireFormatName, reply: FastifyReply, failure: unknown) => {
    const { replyError } = await import('../gateway/gateway.ts');
    return send(reply, replyError(format, toHotcellError(failure, parts.log)));
  };
  const streams = new Set<{ readonly caller: Caller; readonly end: () => void }>();
  const unwatchKeys = parts.watchKeys(() => {
    for (const { caller, end } of streams) if (!parts.isCurrent(caller)) end();
  });

  function serve(method: 'GET' | 'POST' | 'DELETE', url: string, format: WireFormatName, answer: Answer): void {
    app.route({
      method,
      url,
      bodyLimit: maxModelBodyBytes,
      onRequest: admit(parts.authenticate, { readKey }),
      handler: async (request, reply) => {
        const door = await open();
        // The body may have taken its time: what was so when it began need not be so any more.
        if (!parts.isCurrent(request.caller)) throw refuseEnded();
        const { headers, query, body, caller, params, raw } = request;
        const release = parts.shares.take(caller);
        const controller = new AbortController();
        const stream = { caller, end: () => reply.raw.destroy() };
        streams.add(stream);
        reply.raw.once('close', () => {
          release();
          streams.delete(stream);
          controller.abort(clientGone);
        });
        // It went while its request was read.
        if (raw.socket.destroyed) controller.abort(clientGone);
        const asked = { headers, query: Object(query), body, caller, signal: controller.signal };
        return send(reply, await answer(door, asked, String(Object(params)['*'] ?? Object(params).id ?? '')));
      },
      errorHandler: (thrown, request, reply) => refuseIn(formatOf(format, request), reply, thrown),
    });
  }

  for (const [format, { servedAt, countedAt, listedAt }] of modelFormats) {
    for (const url of servedAt) serve('POST', url, format, (door, request, rest) => door.answerAt(format, rest, request));
    if (countedAt !== undefined) serve('POST', countedAt, format, (door, request) => door.countTokens(format, request));
    if (listedAt === undefined) continue;
    serve('GET', listedAt, format, (door, request) => door.listModels(format, request));
    serve('GET', `${listedAt}/*`, format, (door, request, id) => door.getModel(format, id, request));
  }
  serve('GET', '/v1/models', 'openai-chat', (door, request) => door.listModels(modelFormatOf(request.headers), request));
  serve('GET', '/v1/models/*', 'openai-chat', (door, request, id) => door.getModel(modelFormatOf(request.headers), id, request));
  serve('POST', '/v1/responses/compact', 'openai-responses', (door, request) => door.compact(request));
  serve('GET', '/v1/responses/:id', 'openai-responses', (door, request, id) => door.getResponse(id, request));
  serve('DELETE', '/v1/responses/:id', 'openai-responses', (door, request, id) => door.deleteResponse(id, request));
  serve('POST', '/v1/embeddings', 'openai-chat', (door, request) => door.embed(request));
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  serve('POST', '/v1/audio/transcriptions', 'openai-chat', (door, request) => door.transcribe(request));

  return {
    open,
    refuse: (request, reply, failure) =>
      refuseIn(request.url.startsWith('/v1beta/') ? 'gemini' : modelFormatOf(request.headers), reply, failure),
    close() {
      unwatchKeys();
      void opening?.then((door) => door.close());
    },
  };
}

/** Why the signal of a request aborts; made once, since every request ends so. */
const clientGone = new Error('The answer was read, or its client is gone.');

/** At one address for the clients of several formats they are told by their headers. */
function modelFormatOf(headers: GatewayRequest['headers']): WireFormatName {
  const formats = [...modelFormats].filter(([, { clientHeader = '' }]) => headers[clientHeader] !== undefined);
  return formats.at(-1)?.[0] ?? 'openai-chat';
}

function formatOf(format: WireFormatName, { method, url, headers }: FastifyRequest): WireFormatName {
  return url.startsWith('/v1/models') && method === 'GET' ? modelFormatOf(headers) : format;
}

const formatKeyHeaders = [...modelFormats.values()].map(({ keyHeader }) => keyHeader);

/** Clients of each provider show their key in another place; here it is a key of the daemon. */
export function readKey({ headers, query }: Pick<FastifyRequest, 'headers' | 'query'>): string | undefined {
  if (headers.authorization !== undefined) return headers.authorization;
  const key = formatKeyHeaders.map((name) => headers[name]).find((value) => value !== undefined) ?? Object(query).key;
  return typeof key === 'string' ? `Bearer ${key}` : undefined;
}

async function send(reply: FastifyReply, { status, headers, body }: GatewayReply): Promise<FastifyReply> {
  if (typeof body === 'string') return reply.code(status).headers(headers).send(body);
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(status, headers);
  // What comes with the headers leaves with them, in one packet.
  const flush = setImmediate(() => raw.flushHeaders());
  try {
    for await (const chunk of body) {
      if (raw.destroyed) break;
      if (!raw.write(chunk)) await waitForReader(raw);
    }
    clearImmediate(flush);
    raw.end();
  } catch {
    clearImmediate(flush);
    // What was begun cannot be taken back: the client sees that it broke off.
    raw.destroy();
  }
  return reply;
}

async function waitForReader(raw: FastifyReply['raw']): Promise<void> {
  if (raw.destroyed) return;
  const over = new AbortController();
  const timer = setTimeout(() => raw.destroy(), unreadMs);
  try {
    await Promise.race([once(raw, 'drain', { signal: over.signal }), once(raw, 'close', { signal: over.signal })]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
