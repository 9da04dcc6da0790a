/** fetch: the request crosses the border whole, the host decides and carries it out. */
import { type Asked, askCancellable, type Message } from '../border.ts';
import type { AbortSignal } from './abort.ts';
import { takeBytes } from './body.ts';
import { Request, type RequestOptions } from './request.ts';
import { markFetched, Response } from './response.ts';

/** What the host answers beside the bytes of the body. */
interface FetchAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly url: string;
  readonly redirected: boolean;
  readonly truncated?: boolean;
}

export async function fetch(input: unknown, init?: RequestOptions): Promise<Response> {
  const request = new Request(input, init);
  request.signal.throwIfAborted();
  const body = (await takeBytes(request))?.slice().buffer as ArrayBuffer | undefined;
  const { method, url, redirect } = request;
  const asked = askCancellable('fetch', JSON.stringify({ url, method, headers: [...request.headers], redirect }), body);
  const answer = await untilAborted(asked, request.signal).catch((error: unknown) => {
    throw request.signal.aborted ? error : asTypeError(error);
  });
  const { status, statusText, headers, ...facts } = JSON.parse(answer.payload) as FetchAnswer;
  const content = answer.body && answer.body.byteLength > 0 && status !== 204 && status !== 304 ? answer.body : null;
  return markFetched(new Response(content, { status, statusText, headers }), { ...facts, type: 'basic' });
}

/** The answer, or the reason of the signal if that comes first: then the host ends the request. */
function untilAborted({ answer, cancel }: Asked, signal: AbortSignal): Promise<Message> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The web says that a failed fetch is a TypeError; the sentence and code of the host stay. */
function asTypeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  return Object.assign(new TypeError(error.message, { cause: error }), { code, stack: error.stack });
}
