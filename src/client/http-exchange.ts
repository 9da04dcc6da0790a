import http, { type IncomingMessage } from 'node:http';
import { HotcellError } from '../errors/hotcell-error.ts';

/** One request to the daemon. */
export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends one request and resolves with its answer as soon as the head is there. It waits as long as a call may run:
 * whoever wants less aborts. Throws `daemon-unreachable` when nobody answers.
 */
export async function exchange({ url, method, headers, body, signal }: Exchange): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const target = parseAddress(url);
  // Reading what TLS needs takes longer than a command.
  const { request: send } = target.protocol === 'https:' ? await import('node:https') : http;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const request = send(
    target,
    { method, headers: { ...headers, ...length }, ...(signal === undefined ? {} : { signal }) },
    resolve,
  );
  request.once('error', (error: NodeJS.ErrnoException) => {
    if (signal?.aborted === true) return reject(signal.reason);
    reject(
      new HotcellError('daemon-unreachable', `No daemon answers at ${target.origin} (${error.code ?? error.message}).`, {
        cause: error,
      }),
    );
  });
  request.end(body);
  return promise;
}

/** Reads the whole text of an answer. */
export async function readAnswerText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** What it means that the connection ended before the answer did: an interrupt, or a daemon that went away. */
export function explainLoss(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason;
  const isLost = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
  return isLost ? new HotcellError('daemon-unreachable', 'The daemon went away before it answered.', { cause: error }) : error;
}

function parseAddress(url: string): URL {
  if (URL.canParse(url) && /^https?:/.test(url)) return new URL(url);
  throw new HotcellError('usage-wrong', `Expected an http or https address of the daemon, got "${url}".`, {
    fix: 'Set HOTCELL_URL to the address that hotcell start printed.',
  });
}
