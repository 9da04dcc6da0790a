import type { ModelFailure, RateLimit } from '../../conversation/answer.ts';
import type { JsonObject } from '../../conversation/conversation.ts';
import { numberIn, objectIn, textIn } from './json-fields.ts';

type Kind = ModelFailure['kind'];

const kindsByStatus: Readonly<Record<number, Kind>> = {
  400: 'invalid-request',
  401: 'unauthenticated',
  402: 'forbidden',
  403: 'forbidden',
  404: 'not-found',
  405: 'invalid-request',
  408: 'timeout',
  409: 'conflict',
  413: 'too-large',
  422: 'invalid-request',
  429: 'rate-limited',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

/** The kind of a failure by its HTTP status. */
export function kindOfStatus(status: number): Kind {
  return kindsByStatus[status] ?? (status >= 400 && status < 500 ? 'invalid-request' : 'server-error');
}

/** The status that a kind has when a failure came in the middle of a stream. */
export function statusOfKind(kind: Kind): number {
  const usual: Partial<Record<Kind, number>> = {
    'server-error': 500,
    forbidden: 403,
    'invalid-request': 400,
    overloaded: 503,
    timeout: 504,
  };
  return usual[kind] ?? Number(Object.entries(kindsByStatus).find(([, other]) => other === kind)?.[0] ?? 500);
}

/** A failure from its response: `error` is what the body says of it, `code` the provider's word. */
export function failureOf(
  status: number,
  headers: Headers,
  error: JsonObject,
  body: string,
  code = textIn(error.code) ?? textIn(error.type),
): ModelFailure {
  const message = textIn(error.message) ?? quoteBody(body);
  const retryAfterMs = readRetryAfter(headers);
  const rateLimits = readRateLimits(headers);
  return {
    kind: kindOfStatus(status),
    status,
    message,
    ...(code !== undefined && { code }),
    ...(typeof error.param === 'string' && { param: error.param }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(rateLimits.length > 0 && { rateLimits }),
  };
}

/** The beginning of a body that is no JSON; the page of some proxy says nothing. */
function quoteBody(body: string): string {
  return /^\s*[<{[]/.test(body) ? '' : body.trim().slice(0, 500);
}

/** The object `error` of a body, whatever the body is. */
export function errorIn(body: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(body);
    const whole = objectIn(Array.isArray(parsed) ? parsed[0] : parsed);
    return typeof whole.error === 'string'
      ? { message: whole.error }
      : Object.keys(objectIn(whole.error)).length > 0
        ? objectIn(whole.error)
        : whole;
  } catch {
    return {};
  }
}

function readRetryAfter(headers: Headers): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = headers.get('retry-after');
  if (after === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(after)) return Math.round(Number(after) * 1000);
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

const limited: readonly RateLimit['of'][] = ['requests', 'tokens', 'input-tokens', 'output-tokens'];

/** Limits as OpenAI (`x-ratelimit-limit-requests`) and Anthropic (`anthropic-ratelimit-requests-limit`) tell them. */
export function readRateLimits(headers: Headers): RateLimit[] {
  return limited.flatMap((of) => {
    const read = (what: string) => headers.get(`x-ratelimit-${what}-${of}`) ?? headers.get(`anthropic-ratelimit-${of}-${what}`);
    const [limit, remaining] = [read('limit'), read('remaining')].map((text) =>
      text === null ? undefined : numberIn(Number(text)),
    );
    const resetAfterMs = readReset(read('reset'));
    const facts = {
      ...(limit !== undefined && { limit }),
      ...(remaining !== undefined && { remaining }),
      ...(resetAfterMs !== undefined && { resetAfterMs }),
    };
    return Object.keys(facts).length === 0 ? [] : [{ of, ...facts }];
  });
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `1m30.5s`, as OpenAI says it, or a date, as Anthropic does. */
function readReset(text: string | null): number | undefined {
  if (text === null) return undefined;
  const pieces = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (pieces.map(([piece]) => piece).join('') === text) {
    return pieces.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (unitsMs[unit] ?? 0), 0);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** The headers that tell a client when to come back; `format` says how they are called. */
export function writeLimitHeaders(failure: ModelFailure, format: 'openai' | 'anthropic'): Record<string, string> {
  const headers: Record<string, string> = {};
  if (failure.retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(failure.retryAfterMs / 1000));
  for (const { of, limit, remaining, resetAfterMs } of failure.rateLimits ?? []) {
    const reset =
      resetAfterMs === undefined
        ? undefined
        : format === 'openai'
          ? `${resetAfterMs / 1000}s`
          : new Date(Date.now() + resetAfterMs).toISOString();
    for (const [what, value] of Object.entries({ limit, remaining, reset })) {
      if (value === undefined) continue;
      headers[format === 'openai' ? `x-ratelimit-${what}-${of}` : `anthropic-ratelimit-${of}-${what}`] = String(value);
    }
  }
  return headers;
}

/** The code of an answer that is none of its format. */
export const malformedCode = 'upstream_malformed';

/** A failure that a chunk of a stream tells of. */
export function brokenStream(message: string): ModelFailure {
  return { kind: 'server-error', status: 502, message };
}
