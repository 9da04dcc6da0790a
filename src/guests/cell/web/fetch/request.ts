import { AbortController, type AbortSignal } from '../abort.ts';
import { URL } from '../url/url.ts';
import { Body, copyBody, extractBody } from './body.ts';
import { Headers } from './headers.ts';

/** The part of RequestInit that has an effect here. */
export interface RequestOptions {
  readonly method?: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly redirect?: string;
  readonly signal?: AbortSignal | null;
}

const redirectModes = ['follow', 'error', 'manual'];

export class Request extends Body {
  readonly method: string;
  readonly url: string;
  override readonly headers: Headers;
  readonly redirect: string;
  readonly signal: AbortSignal;

  constructor(input: unknown, init: RequestOptions = {}) {
    const source = input instanceof Request ? input : undefined;
    const method = normalizeMethod(init.method ?? source?.method ?? 'GET');
    const bodyless = method === 'GET' || method === 'HEAD';
    if (bodyless && init.body !== undefined && init.body !== null) throw new TypeError(`A ${method} request cannot have a body`);
    const extracted = init.body === undefined && source && !bodyless ? copyBody(source) : extractBody(init.body);
    super(extracted);
    this.method = method;
    this.url = source ? source.url : requestUrl(input);
    this.headers = new Headers(init.headers ?? source?.headers);
    if (extracted.type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', extracted.type);
    this.redirect = init.redirect ?? source?.redirect ?? 'follow';
    if (!redirectModes.includes(this.redirect)) throw new TypeError(`redirect must be one of ${redirectModes.join(', ')}`);
    this.signal = (init.signal === undefined ? source?.signal : init.signal) ?? new AbortController().signal;
  }

  clone(): Request {
    const { content, stream } = copyBody(this);
    const copy = new Request(this.url, {
      method: this.method,
      headers: this.headers,
      redirect: this.redirect,
      signal: this.signal,
      body: content ?? stream,
    });
    if (!this.headers.has('content-type')) copy.headers.delete('content-type');
    return copy;
  }
}

function normalizeMethod(method: unknown): string {
  const text = String(method);
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(text) || /^(connect|trace|track)$/i.test(text))
    throw new TypeError(`"${text}" is not a method that can be sent`);
  return /^(delete|get|head|options|post|put)$/i.test(text) ? text.toUpperCase() : text;
}

function requestUrl(input: unknown): string {
  const url = new URL(input);
  const { username, password, href } = url as unknown as Record<'username' | 'password' | 'href', string>;
  if (username !== '' || password !== '')
    throw new TypeError('A request URL cannot include a user name or password; use an authorization header');
  return href;
}
