/** fetch over the `http_request` of an Extism host: it waits, and two requests go one after the other. */
import { extism } from './host-calls.ts';
import { makeRefusal } from './refusal.ts';

/** Sends what src/guests/cell/web/fetch/fetch.ts asks for; the answer is shaped as the daemon's. */
export function sendRequest(payload: string, body: ArrayBuffer | undefined): { payload: string; body: ArrayBuffer } {
  const { url, method, headers, redirect } = JSON.parse(payload);
  if (redirect !== undefined && redirect !== 'follow') {
    throw makeRefusal(
      'not-supported',
      `fetch of a built module follows redirects; redirect: "${redirect}" needs the Hotcell daemon.`,
    );
  }
  const content = extism.request(JSON.stringify({ url, method, headers: joinHeaders(headers) }), body);
  // Not every Extism host tells the headers of a response, and a module that asks for them does not start on those.
  const answer = { status: extism.status(), statusText: '', headers: [], url, redirected: false };
  return { payload: JSON.stringify(answer), body: content };
}

function joinHeaders(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of pairs) joined[name] = Object.hasOwn(joined, name) ? `${joined[name]}, ${value}` : value;
  return joined;
}
