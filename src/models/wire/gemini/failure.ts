import type { ModelFailure } from '../../../conversation/answer.ts';
import { errorIn, failureOf, kindOfStatus, statusOfKind, writeLimitHeaders } from '../failures.ts';
import { numberIn, objectsIn, textIn } from '../json-fields.ts';
import type { WireFailure } from '../wire-format.ts';

const retryInfo = 'type.googleapis.com/google.rpc.RetryInfo';

/** Reads an error of the Gemini API, which tells in its body when to come back; `status` 0 is one in the middle of a stream. */
export function readGeminiFailure(status: number, headers: Headers, body: string): ModelFailure {
  const error = errorIn(body);
  const failure = failureOf(status || numberIn(error.code) || 500, headers, error, body, textIn(error.status));
  const [delay] = objectsIn(error.details).flatMap((detail) =>
    detail['@type'] === retryInfo ? [textIn(detail.retryDelay)] : [],
  );
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1];
  return seconds === undefined
    ? failure
    : { ...failure, retryAfterMs: failure.retryAfterMs ?? Math.round(Number(seconds) * 1000) };
}

const words: Readonly<Record<ModelFailure['kind'], string>> = {
  'invalid-request': 'INVALID_ARGUMENT',
  unauthenticated: 'UNAUTHENTICATED',
  forbidden: 'PERMISSION_DENIED',
  'not-found': 'NOT_FOUND',
  conflict: 'ABORTED',
  'too-large': 'INVALID_ARGUMENT',
  'rate-limited': 'RESOURCE_EXHAUSTED',
  overloaded: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
  'server-error': 'INTERNAL',
};

/** Writes an error as the Gemini API has it. */
export function writeGeminiFailure(failure: ModelFailure): WireFailure {
  const { kind, message, retryAfterMs } = failure;
  const status =
    failure.status >= 400 ? (failure.status === 529 ? 503 : failure.status) : statusOfKind(kindOfStatus(failure.status));
  const details = retryAfterMs === undefined ? [] : [{ '@type': retryInfo, retryDelay: `${retryAfterMs / 1000}s` }];
  const error = { code: status, message, status: words[kind], ...(details.length > 0 && { details }) };
  return { status, headers: writeLimitHeaders(failure, 'openai'), body: { error } };
}
