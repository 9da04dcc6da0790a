import type { ModelFailure } from '../../conversation/answer.ts';
import { errorIn, failureOf, statusOfKind, writeLimitHeaders } from './failures.ts';
import { numberIn, textIn } from './json-fields.ts';
import type { WireFailure } from './wire-format.ts';

const statusesByCode: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  rate_limit_error: 429,
  invalid_api_key: 401,
  authentication_error: 401,
  model_not_found: 404,
  invalid_request_error: 400,
  context_length_exceeded: 400,
};

/** Reads an error of OpenAI's APIs; `status` 0 is one in the middle of a stream. */
export function readOpenaiFailure(status: number, headers: Headers, body: string): ModelFailure {
  const error = errorIn(body);
  const word = textIn(error.code) ?? textIn(error.type) ?? '';
  return failureOf(
    status || numberIn(error.code) || numberIn(error.status) || (statusesByCode[word] ?? 500),
    headers,
    error,
    body,
  );
}

const types: Readonly<Partial<Record<ModelFailure['kind'], string>>> = {
  'invalid-request': 'invalid_request_error',
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  'not-found': 'invalid_request_error',
  'too-large': 'invalid_request_error',
  'rate-limited': 'rate_limit_error',
};

/** Writes an error as both of OpenAI's APIs have it. */
export function writeOpenaiFailure(failure: ModelFailure): WireFailure {
  const { kind, status, message, code = null, param = null } = failure;
  return {
    status: status >= 400 ? status : statusOfKind(kind),
    headers: writeLimitHeaders(failure, 'openai'),
    body: { error: { message, type: types[kind] ?? 'server_error', param, code } },
  };
}
