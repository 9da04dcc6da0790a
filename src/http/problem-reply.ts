import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Caller } from '../callers/caller.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { describeProblem } from '../errors/problem.ts';
import { findStorageError } from '../store/sqlite-error.ts';

/** The media type of problem details. */
export const problemType = 'application/problem+json; charset=utf-8';

const codesByFastifyCode: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'body-invalid',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'body-invalid',
  FST_ERR_CTP_INVALID_JSON_BODY: 'body-invalid',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'body-invalid',
  FST_ERR_BAD_URL: 'not-found',
};

const messagesByFastifyCode: Readonly<Record<string, string>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Expected a JSON body with the header Content-Type: application/json, got another type.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The request body is larger than this daemon takes.',
  FST_ERR_BAD_URL: 'The path of the request is not validly encoded.',
};

/** How a body ends whose client is gone. */
const goneCodes: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ABORT_ERR',
]);

/** Makes any failure one of ours. What nobody foresaw becomes `internal` with an id; the whole error is in the log under it. */
export function toHotcellError(error: unknown, log: Logger): HotcellError {
  if (error instanceof HotcellError) return error;
  const fastifyCode = readCode(error);
  const code = Object.hasOwn(codesByFastifyCode, fastifyCode) ? codesByFastifyCode[fastifyCode] : undefined;
  if (code !== undefined) {
    const isOtherType = fastifyCode === 'FST_ERR_CTP_INVALID_MEDIA_TYPE';
    const fix = isOtherType ? { fix: 'Send JSON with that header; curl has --json for it.' } : {};
    return new HotcellError(code, messagesByFastifyCode[fastifyCode] ?? 'The request body is not valid JSON.', fix);
  }
  if (error instanceof SyntaxError)
    return new HotcellError('body-invalid', `The request body is not valid JSON: ${error.message}.`);
  const storage = findStorageError(error);
  if (storage !== undefined) return storage;
  if (goneCodes.has(fastifyCode)) {
    log.debug({ code: fastifyCode }, 'a client went away before its request was whole');
    return new HotcellError('body-invalid', 'The request ended before its body was whole.');
  }
  const id = randomUUID();
  log.error({ err: error, id }, 'fault while a request was served');
  return new HotcellError('internal', `A fault in the daemon stopped the request; its log has it under ${id}.`, {
    facts: { id },
  });
}

/** The body of a refusal, as sent to somebody of this role. */
export function formatProblem(error: HotcellError, role?: Caller['role']): string {
  return JSON.stringify(describeProblem(error, role));
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Answers bytes that never became a request with a problem, like everything else that is refused, and ends the connection. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = explainBytes(error.code);
  const body = formatProblem(refusal);
  const head = [
    `HTTP/1.1 ${refusal.status} ${refusal.status === 413 ? 'Content Too Large' : 'Bad Request'}`,
    `Content-Type: ${problemType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

function explainBytes(code: string | undefined): HotcellError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HotcellError('payload-too-large', 'The headers of the request are larger than this daemon takes.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HotcellError('body-invalid', 'The request did not arrive whole in time.');
    default:
      return new HotcellError('body-invalid', 'Expected an HTTP request, got bytes that are none.');
  }
}
