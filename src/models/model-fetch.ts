import { HotcellError } from '../errors/hotcell-error.ts';

/** How one request reaches a model server. */
export interface ModelFetchOptions {
  /** Requests go below this URL and nowhere else. */
  readonly baseUrl: string;
  readonly maxBytes: number;
}

/**
 * The way to one model server: nothing but its base URL, no redirect to anywhere, answers of bounded size. Fails with a
 * HotcellError for what it refuses.
 */
export function createModelFetch({ baseUrl, maxBytes }: ModelFetchOptions): typeof fetch {
  const base = `${baseUrl.replace(/\/+$/, '')}/`;
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (!url.startsWith(base)) throw new HotcellError('model-failed', 'A request to a model left its base URL and was not sent.');
    const response = await fetch(input, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new HotcellError('model-failed', `The model server answered with a redirect (HTTP ${response.status}).`, {
        fix: 'Put the final address into baseUrl in the config.',
      });
    }
    return boundBody(response, maxBytes);
  };
}

function boundBody(response: Response, maxBytes: number): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= maxBytes) return controller.enqueue(chunk);
      controller.error(new HotcellError('model-failed', `The answer of the model server has more than ${maxBytes} bytes.`));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
}
