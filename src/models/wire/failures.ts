import { readJson } from '../../config/json-object.ts';
import type { ModelFailure, RateLimit } from '../../conversation/answer.ts';
import type { JsonObject } from '../../conversation/conversation.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { numberIn, objectIn, objectsIn, textIn } from './json-fields.ts';
import type { WireFormat } from './wire-format.ts';

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
function statusOfKind(kind: Kind): number {
  const usual: Partial<Record<Kind, number>> = {
    'server-error': 500,
    forbidden: 403,
    'invalid-request': 400,
    overloaded: 503,
    timeout: 504,
  };
  return usual[kind] ?? Number(Object.entries(kindsByStatus).find(([, other]) => other === kind)?.[0] ?? 500);
}

/** What an error calls itself, where its status does not say it. */
const statusesByWord: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  rate_limit_error: 429,
  invalid_api_key: 401,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  model_not_found: 404,
  not_found_error: 404,
  invalid_request_error: 400,
  context_length_exceeded: 400,
  request_too_large: 413,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};
/** Gemini tells in its body when to come back. */
export const retryInfo = 'type.googleapis.com/google.rpc.RetryInfo';

/** Reads an error of any format; `status` 0 is one in the middle of a stream. */
export function readFailure(status: number, headers: Headers, body: string): ModelFailure {
  const error = errorIn(body);
  const code = textIn(error.code) ?? textIn(error.type) ?? textIn(error.status);
  const found = status || numberIn(error.code) || numberIn(error.status) || (statusesByWord[code ?? ''] ?? 500);
  const retryAfterMs = readRetryAfter(headers) ?? readRetryInfo(error);
  const rateLimits = readRateLimits(headers);
  return {
    kind: kindOfStatus(found),
    status: found,
    message: textIn(error.message) ?? quoteBody(body),
    ...(code !== undefined && { code }),
    ...(typeof error.param === 'string' && { param: error.param }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(rateLimits.length > 0 && { rateLimits }),
  };
}

/** Reads an error that a stream tells of. */
export function readFailureIn(event: JsonObject): ModelFailure {
  return readFailure(0, new Headers(), JSON.stringify(event));
}

function readRetryInfo({ details }: JsonObject): number | undefined {
  const info = objectsIn(details).find((detail) => detail['@type'] === retryInfo);
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textIn(info?.retryDelay) ?? '')?.[1];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}

/** How an API tells of failures, and of limits. */
interface ErrorShape {
  /** What it calls a kind. */
  readonly words: Readonly<Record<Kind, string>>;
  readonly body: (failure: ModelFailure, word: string, status: number) => JsonObject;
  /** Where its status is another one than HTTP's. */
  readonly statusOf?: (status: number, kind: Kind) => number;
  readonly limitHeader?: (what: string, of: RateLimit['of']) => string;
  readonly sayReset?: (afterMs: number) => string;
}

/** Writes errors as an API has them. */
export function describeErrors({
  words,
  body,
  statusOf = (status) => status,
  limitHeader = (what, of) => `x-ratelimit-${what}-${of}`,
  sayReset = (afterMs) => `${afterMs / 1000}s`,
}: ErrorShape): Pick<WireFormat, 'writeFailure' | 'writeLimits'> {
  function writeLimits({ retryAfterMs, rateLimits = [] }: Pick<ModelFailure, 'retryAfterMs' | 'rateLimits'>) {
    const headers: Record<string, string> = {};
    if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000));
    for (const { of, limit, remaining, resetAfterMs } of rateLimits) {
      const reset = resetAfterMs === undefined ? undefined : sayReset(resetAfterMs);
      for (const [what, value] of Object.entries({ limit, remaining, reset }))
        if (value !== undefined) headers[limitHeader(what, of)] = String(value);
    }
    return headers;
  }

  return {
    writeLimits,
    writeFailure(failure) {
      const { kind } = failure;
      const status = statusOf(failure.status >= 400 ? failure.status : statusOfKind(kind), kind);
      return { status, headers: writeLimits(failure), body: body(failure, words[kind], status) };
    },
  };
}

/** The beginning of a body that is no JSON; the page of some proxy says nothing. */
function quoteBody(body: string): string {
  return /^\s*[<{[]/.test(body) ? '' : body.trim().slice(0, 500);
}

/** The object `error` of a body, whatever the body is. */
function errorIn(body: string): JsonObject {
  const parsed = readJson(body);
  const whole = objectIn(Array.isArray(parsed) ? parsed[0] : parsed);
  if (typeof whole.error === 'string') return { message: whole.error };
  const error = objectIn(whole.error);
  return Object.keys(error).length > 0 ? error : whole;
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

/** The code of an answer that is none of its format. */
export const malformedCode = 'upstream_malformed';

/** A failure that a chunk of a stream tells of. */
export function brokenStream(message: string): ModelFailure {
  return { kind: 'server-error', status: 502, message };
}

/** A refusal of the daemon itself, as providers fail. */
export function failureOfError(error: unknown): ModelFailure {
  if (!(error instanceof HotcellError)) throw error;
  const { status, message, fix, facts } = error;
  const code = typeof facts.code === 'string' ? facts.code : error.code;
  const param = typeof facts.param === 'string' ? { param: facts.param } : {};
  const retryAfterMs = typeof facts.retryAfterMs === 'number' ? { retryAfterMs: facts.retryAfterMs } : {};
  return {
    kind: kindOfStatus(status),
    status,
    code,
    message: `${message} ${fix}`,
    fix,
    ...param,
    ...retryAfterMs,
  };
}
