import type { BorderAnswer } from '../../../border/border.ts';
import { isObject, readJson } from '../../../config/json-object.ts';
import type { CallState } from './call-state.ts';
import { GuestFault } from './guest-fault.ts';

/** What the last request of a call was answered, as Extism's functions tell it. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; of several values the last. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Carries out Extism's `http_request` through the daemon's fetch: the guest's request is `{url, method?, header(s)?}`.
 * Redirects are followed, each hop checked. Throws what the daemon refused.
 */
export function requestOverHost(host: Pick<CallState, 'ask'>, request: string, body: Uint8Array | undefined): HttpAnswer {
  const { url, method = 'GET', headers } = readRequest(request);
  const answer = expect(host.ask('fetch', JSON.stringify({ url, method, headers }), body));
  const head = readObject(answer.payload);
  const pieces = [answer.body ?? new Uint8Array()];
  const { stream, status } = head;
  while (typeof stream === 'string') {
    const piece = expect(host.ask('fetch.read', JSON.stringify({ stream, fill: true })));
    if (piece.body) pieces.push(piece.body);
    if (readObject(piece.payload).done === true) break;
  }
  return {
    status: typeof status === 'number' ? status : 0,
    headers: readHeaders(head.headers),
    body: pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces),
  };
}

function expect(answer: BorderAnswer): BorderAnswer & { ok: true } {
  if (answer.ok) return answer;
  throw GuestFault.fromRefusal(answer);
}

function readRequest(text: string): { url: string; method?: string; headers: [string, string][] } {
  const request = readObject(text);
  const { url, method } = request;
  const headers = request.headers ?? request.header ?? {};
  if (typeof url !== 'string' || typeof headers !== 'object' || headers === null) {
    throw new GuestFault('arguments-invalid', 'http_request expects {"url": "…", "method": "…", "headers": {…}} as JSON.');
  }
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return { url, headers: pairs, ...(typeof method === 'string' && { method }) };
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  const value = readJson(text);
  return isObject(value) ? value : {};
}

function readHeaders(pairs: unknown): Record<string, string> {
  if (!Array.isArray(pairs)) return {};
  return Object.fromEntries(pairs.map((pair: unknown) => (Array.isArray(pair) ? [String(pair[0]), String(pair[1])] : ['', ''])));
}
