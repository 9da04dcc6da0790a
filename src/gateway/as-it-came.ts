import { isObject } from '../config/json-object.ts';
import type { JsonObject } from '../conversation/conversation.ts';
import type { AsIsRequest } from '../models/upstream.ts';
import type { RequestAddress, WireFormatName } from '../models/wire/wire-format.ts';
import { wireFormats } from '../models/wire/wire-formats.ts';
import type { GatewayRequest } from './gateway-types.ts';

/** Headers of clients that say something to providers of their own format. */
const passedHeaders = ['anthropic-version', 'anthropic-beta', 'openai-beta'];

const boundNames: Readonly<Record<WireFormatName, readonly string[]>> = {
  'openai-chat': ['max_tokens', 'max_completion_tokens'],
  'openai-responses': ['max_output_tokens'],
  anthropic: ['max_tokens'],
  gemini: ['maxOutputTokens'],
};

/** A request for a provider of the format in which it came: nothing of it is touched but the name of the model. */
export function asItCame(
  format: WireFormatName,
  body: JsonObject,
  { headers }: Pick<GatewayRequest, 'headers'>,
  address: RequestAddress,
): AsIsRequest {
  const model = address.model ?? (typeof body.model === 'string' ? body.model : '');
  const isStreamed = address.isStreamed ?? body.stream === true;
  const isGemini = format === 'gemini';
  const bounds = isGemini ? (isObject(body.generationConfig) ? body.generationConfig : {}) : body;
  return {
    formats: [format],
    model,
    path: (provided) => pathOf(format, provided, isStreamed),
    body: (provided, maxTokens) => {
      const bounded = maxTokens === undefined ? body : withBound(format, body, maxTokens);
      return JSON.stringify(isGemini ? bounded : { ...bounded, model: provided });
    },
    headers: pickHeaders(headers),
    isStreamed,
    read: () => wireFormats[format].readRequest(body, { ...address, model }),
    isBounded: boundNames[format].some((name) => typeof bounds[name] === 'number'),
  };
}

export function pickHeaders(headers: GatewayRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    passedHeaders.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

function withBound(format: WireFormatName, body: JsonObject, bound: number): JsonObject {
  const [name = ''] = boundNames[format];
  if (format !== 'gemini') return { ...body, [name]: bound };
  return { ...body, generationConfig: { ...Object(body.generationConfig), [name]: bound } };
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
