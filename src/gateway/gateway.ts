import { isObject } from '../config/json-object.ts';
import type { JsonObject } from '../conversation/conversation.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import { failureOfError } from '../models/upstream/failure-of-error.ts';
import type { AsIsRequest, AskedBy, Upstreams } from '../models/upstream.ts';
import { requireObject } from '../models/wire/json-fields.ts';
import type { RequestAddress, WireFormatName } from '../models/wire/wire-format.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import { replyAnswer, replyFailure } from './answer-client.ts';
import type { GatewayReply, GatewayRequest } from './gateway-types.ts';

/** What the gateway is made of. */
export interface GatewayParts {
  readonly upstreams: Upstreams;
}

/** The door for clients of models. */
export interface Gateway {
  /** Answers a request for an answer of a model, in the format of its client. */
  answer(format: WireFormatName, request: GatewayRequest, address?: RequestAddress): Promise<GatewayReply>;
  /** The same for Gemini, which names the model and what is asked of it in the path. */
  answerGemini(path: string, request: GatewayRequest): Promise<GatewayReply>;
}

/** An error as a client of the format expects it. */
export function replyError(format: WireFormatName, error: unknown): GatewayReply {
  return replyFailure(wireFormats[format], failureOfError(error));
}

/** Opens the door. */
export function createGateway({ upstreams }: GatewayParts): Gateway {
  async function forward(format: WireFormatName, body: JsonObject, request: GatewayRequest, address: RequestAddress) {
    return upstreams.forward(asItCame(format, body, request, address), byOf(request));
  }

  const gateway: Gateway = {
    async answerGemini(path, request) {
      const [, model = '', method] = /^(.*):(\w+)$/.exec(path) ?? [];
      if (method === 'generateContent' || method === 'streamGenerateContent') {
        return gateway.answer('gemini', request, { model, isStreamed: method === 'streamGenerateContent' });
      }
      return replyFailure(wireFormats.gemini, { kind: 'not-found', status: 404, message: `There is no method for ${path}.` });
    },
    async answer(name, request, address = {}) {
      const format = wireFormats[name];
      try {
        const body = requireObject(request.body, 'body');
        const forwarded = await forward(name, body, request, address);
        if (forwarded !== undefined && 'kind' in forwarded) return replyFailure(format, forwarded);
        if (forwarded !== undefined) return { status: forwarded.status, headers: forwarded.headers, body: forwarded.bytes };
        const asked: ConversationRequest = format.readRequest(body, address);
        return await replyAnswer(format, asked, upstreams.ask(asked, byOf(request)));
      } catch (error) {
        return replyFailure(format, failureOfError(error));
      }
    },
  };
  return gateway;
}

function byOf({ caller, signal }: GatewayRequest): AskedBy {
  return { caller, signal, purpose: 'gateway' };
}

/** Headers of clients that say something to providers of their own format. */
const passedHeaders = ['anthropic-version', 'anthropic-beta', 'openai-beta'];

function asItCame(
  format: WireFormatName,
  body: JsonObject,
  { headers }: GatewayRequest,
  { model: named, isStreamed }: RequestAddress,
): AsIsRequest {
  const model = named ?? (typeof body.model === 'string' ? body.model : '');
  const isGemini = format === 'gemini';
  const tokens = body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens ?? maxOutputOf(body.generationConfig);
  return {
    format,
    model,
    path: (provided) => pathOf(format, provided, isStreamed === true),
    body: (provided, bound) => {
      const bounded = bound === undefined ? body : withMaxTokens(format, body, bound);
      return JSON.stringify(isGemini ? bounded : { ...bounded, model: provided });
    },
    headers: Object.fromEntries(
      passedHeaders.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
    ),
    isStreamed: isStreamed ?? body.stream === true,
    read: () => wireFormats[format].readRequest(body, { model, isStreamed: isStreamed === true }),
    isBounded: typeof tokens === 'number',
  };
}

function withMaxTokens(format: WireFormatName, body: JsonObject, bound: number): JsonObject {
  if (format === 'gemini') return { ...body, generationConfig: { ...Object(body.generationConfig), maxOutputTokens: bound } };
  return { ...body, [format === 'openai-responses' ? 'max_output_tokens' : 'max_tokens']: bound };
}

function maxOutputOf(config: unknown): unknown {
  return isObject(config) ? config.maxOutputTokens : undefined;
}

function pathOf(format: WireFormatName, model: string, isStreamed: boolean): string {
  switch (format) {
    case 'openai-chat':
      return '/chat/completions';
    case 'openai-responses':
      return '/responses';
    case 'anthropic':
      return '/v1/messages';
    case 'gemini':
      return `/models/${encodeURIComponent(model)}:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
  }
}
