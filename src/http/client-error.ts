import type { Socket } from 'node:net';
import { HotcellError } from '../errors/hotcell-error.ts';
import { formatProblem, problemType } from './problem-reply.ts';

/** Answers bytes that never became a request with a problem, like everything else that is refused, and ends the connection. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = explain(error.code);
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

function explain(code: string | undefined): HotcellError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new HotcellError('payload-too-large', 'The headers of the request are larger than this daemon takes.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HotcellError('body-invalid', 'The request did not arrive whole in time.');
    default:
      return new HotcellError('body-invalid', 'Expected an HTTP request, got bytes that are none.');
  }
}
