/** fetch: the request crosses the border whole, the host decides and carries it out; large responses come piece by piece. */
import { type Asked, ask, askCancellable, type Message } from '../../border.ts';
import type { AbortSignal } from '../abort.ts';
import { attachSource, type ByteSource, takeBytes } from './body.ts';
import { Request, type RequestOptions } from './request.ts';
import { markFetched, Response } from './response.ts';

/** What the host answers beside the bytes of the body. */
interface FetchAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly url: string;
  readonly redirected: boolean;
  truncated?: boolean;
  /** The body goes on: what came is its beginning. */
  readonly stream?: string;
}

export async function fetch(input: unknown, init?: RequestOptions): Promise<Response> {
  const request = new Request(input, init);
  request.signal.throwIfAborted();
  const body = (await takeBytes(request))?.slice().buffer as ArrayBuffer | undefined;
  const { method, url, redirect } = request;
  const asked = askCancellable('fetch', JSON.stringify({ url, method, headers: [...request.headers], redirect }), body);
  const answer = await untilAborted(asked, request.signal);
  const { status, statusText, headers, stream, ...facts } = JSON.parse(answer.payload) as FetchAnswer;
  const isWhole = stream === undefined;
  const content = isWhole && answer.body && answer.body.byteLength > 0 && status !== 204 && status !== 304 ? answer.body : null;
  const known = { ...facts, type: 'basic' };
  const response = markFetched(new Response(content, { status, statusText, headers }), known);
  if (!isWhole) {
    attachSource(
      response,
      readOn(stream, answer.body, request.signal, () => {
        known.truncated = true;
      }),
    );
  }
  return response;
}

/** The rest of a body, from the host as it is asked for. */
function readOn(stream: string, first: ArrayBuffer | undefined, signal: AbortSignal, onCut: () => void): ByteSource {
  let ready = first?.byteLength ? new Uint8Array(first) : undefined;
  let isOver = false;
  const end = () => {
    isOver = true;
    ready = undefined;
    signal.removeEventListener('abort', cancel);
  };
  const cancel = async () => {
    end();
    await ask('fetch.cancel', JSON.stringify({ stream })).catch(() => {});
  };
  signal.addEventListener('abort', cancel);
  return {
    cancel,
    async pull(fill) {
      signal.throwIfAborted();
      if (ready) {
        const bytes = ready;
        ready = undefined;
        return bytes;
      }
      if (isOver) return undefined;
      const answer = await untilAborted(askCancellable('fetch.read', JSON.stringify({ stream, fill })), signal);
      const { done, truncated } = JSON.parse(answer.payload) as { done: boolean; truncated: boolean };
      if (done) end();
      if (truncated) onCut();
      return answer.body?.byteLength ? new Uint8Array(answer.body) : undefined;
    },
  };
}

/** The answer, or the reason of the signal if that comes first: then the host ends the request. */
function untilAborted({ answer, cancel }: Asked, signal: AbortSignal): Promise<Message> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    answer
      .then(resolve, (error: unknown) => reject(signal.aborted ? error : asTypeError(error)))
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The web says that a failed fetch is a TypeError; the sentence and code of the host stay. */
function asTypeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  return Object.assign(new TypeError(error.message, { cause: error }), { code, stack: error.stack });
}
