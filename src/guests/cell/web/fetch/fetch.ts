/** fetch: the request crosses the border whole, the host decides and carries it out; large responses come piece by piece. */
import { ask } from '../../border.ts';
import { askUntilAborted, type FetchAnswer } from '../../fetch-question.ts';
import type { AbortSignal } from '../abort.ts';
import { attachSource, type ByteSource, takeBytes } from './body.ts';
import { Request, type RequestOptions } from './request.ts';
import { markFetched, Response } from './response.ts';

export async function fetch(input: unknown, init?: RequestOptions): Promise<Response> {
  const request = new Request(input, init);
  request.signal.throwIfAborted();
  const body = (await takeBytes(request))?.slice().buffer as ArrayBuffer | undefined;
  const { method, url, redirect } = request;
  const question = { url, method, headers: [...request.headers], redirect };
  const answer = await askUntilAborted('fetch', question, request.signal, body);
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
      const answer = await askUntilAborted('fetch.read', { stream, fill }, signal);
      const { done, truncated } = JSON.parse(answer.payload) as { done: boolean; truncated: boolean };
      if (done) end();
      if (truncated) onCut();
      return answer.body?.byteLength ? new Uint8Array(answer.body) : undefined;
    },
  };
}
