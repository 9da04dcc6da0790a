/** fetch of a process: the request crosses the border whole, the host decides and carries it out. */
import { askCancellable } from '../guest/border.ts';

interface FetchAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: [string, string][];
  readonly url: string;
  readonly redirected: boolean;
  readonly truncated?: boolean;
}

const { Request: NativeRequest, Response: NativeResponse } = globalThis;
const { defineProperty } = Object;

export async function fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new NativeRequest(input, init);
  const { method, url, redirect, signal } = request;
  signal.throwIfAborted();
  const body = request.body === null ? undefined : await request.arrayBuffer();
  const { answer, cancel } = askCancellable(
    'fetch',
    JSON.stringify({ url, method, headers: [...request.headers], redirect }),
    body,
  );
  const message = await new Promise<Awaited<typeof answer>>((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    answer.then(resolve, (error: unknown) => reject(asTypeError(error))).finally(() => signal.removeEventListener('abort', stop));
  });
  const { status, statusText, headers, ...facts } = JSON.parse(message.payload) as FetchAnswer;
  const hasBody = message.body !== undefined && message.body.byteLength > 0 && ![101, 204, 205, 304].includes(status);
  const response = new NativeResponse(hasBody ? message.body : null, { status, statusText, headers });
  for (const [name, value] of Object.entries(facts)) defineProperty(response, name, { value, configurable: true });
  return response;
}

/** The web says that a failed fetch is a TypeError; the sentence and code of the host stay. */
function asTypeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  return Object.assign(new TypeError(error.message, { cause: error }), { code, stack: error.stack });
}
