import type { ModelFailure } from '../../../conversation/answer.ts';
import { errorIn, failureOf, statusOfKind, writeLimitHeaders } from '../failures.ts';
import { textIn } from '../json-fields.ts';
import type { WireFailure } from '../wire-format.ts';

const statusesByType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** Reads an error of the Anthropic API; `status` 0 is one in the middle of a stream. */
export function readMessagesFailure(status: number, headers: Headers, body: string): ModelFailure {
  const error = errorIn(body);
  return failureOf(status || (statusesByType[textIn(error.type) ?? ''] ?? 500), headers, error, body);
}

const types: Readonly<Record<ModelFailure['kind'], string>> = {
  'invalid-request': 'invalid_request_error',
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  'not-found': 'not_found_error',
  conflict: 'invalid_request_error',
  'too-large': 'request_too_large',
  'rate-limited': 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  'server-error': 'api_error',
};

/** Writes an error as the Anthropic API has it. */
export function writeMessagesFailure(failure: ModelFailure): WireFailure {
  const { kind, status, message } = failure;
  return {
    status: kind === 'overloaded' ? 529 : status >= 400 ? status : statusOfKind(kind),
    headers: writeLimitHeaders(failure, 'anthropic'),
    body: { type: 'error', error: { type: types[kind], message } },
  };
}
