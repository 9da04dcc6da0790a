/** fetch of a process: the request crosses the border whole, the host decides and carries it out; large bodies come in pieces. */
import { ask } from '../cell/border.ts';
import { askUntilAborted, type FetchAnswer } from '../cell/fetch-question.ts';

const { Request: NativeRequest, Response: NativeResponse, ReadableStream: NativeStream } = globalThis;
const { defineProperty } = Object;

export async function fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const request = new NativeRequest(input, init);
  const { method, url, redirect, signal } = request;
  signal.throwIfAborted();
  const body = request.body === null ? undefined : await request.arrayBuffer();
  const message = await askUntilAborted('fetch', { url, method, headers: [...request.headers], redirect }, signal, body);
  const { status, statusText, headers, stream, ...facts } = JSON.parse(message.payload) as FetchAnswer;
  const mayHaveBody = ![101, 204, 205, 304].includes(status);
  const tell = (name: string, value: unknown) => defineProperty(response, name, { value, configurable: true });
  const rest =
    stream === undefined ? undefined : readOn(stream, { first: message.body, signal, onCut: () => tell('truncated', true) });
  const whole = message.body !== undefined && message.body.byteLength > 0 ? message.body : null;
  const response: Response = new NativeResponse(mayHaveBody ? (rest ?? whole) : null, { status, statusText, headers });
  for (const [name, value] of Object.entries(facts)) tell(name, value);
  return response;
}

/** The rest of a body, from the host as it is asked for. */
function readOn(
  stream: string,
  { first, signal, onCut }: { first: ArrayBuffer | undefined; signal: AbortSignal; onCut: () => void },
): ReadableStream<Uint8Array> {
  const cancel = async () => {
    signal.removeEventListener('abort', cancel);
    await ask('fetch.cancel', JSON.stringify({ stream })).catch(() => {});
  };
  signal.addEventListener('abort', cancel);
  return new NativeStream<Uint8Array>({
    start: (controller) => {
      if (first?.byteLength) controller.enqueue(new Uint8Array(first));
    },
    async pull(controller) {
      const { payload, body } = await askUntilAborted('fetch.read', { stream, fill: true }, signal);
      const { done, truncated } = JSON.parse(payload) as { done: boolean; truncated: boolean };
      if (body?.byteLength) controller.enqueue(new Uint8Array(body));
      if (truncated) onCut();
      if (!done) return;
      signal.removeEventListener('abort', cancel);
      controller.close();
    },
    cancel,
  });
}
