import { URL } from '../url/url.ts';
import { Body, copyBody, extractBody } from './body.ts';
import { freezeHeaders, Headers } from './headers.ts';

/** ResponseInit. */
export interface ResponseOptions {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: unknown;
}

/** What only a fetched or special response has. */
interface Facts {
  readonly url?: string;
  readonly redirected?: boolean;
  readonly truncated?: boolean;
  readonly type?: string;
}

const bodylessStatuses = [101, 103, 204, 205, 304];

/** Adds the facts of a fetched response and makes its headers unchangeable. */
export let markFetched: (response: Response, facts: Facts) => Response;

export class Response extends Body {
  #facts: Facts = {};
  #status: number;
  readonly statusText: string;
  override readonly headers: Headers;

  static {
    markFetched = (response, facts) => {
      response.#facts = facts;
      freezeHeaders(response.headers);
      return response;
    };
  }

  constructor(body?: unknown, init: ResponseOptions = {}) {
    const status = init.status === undefined ? 200 : Math.trunc(Number(init.status));
    if (!(status >= 200 && status <= 599))
      throw new RangeError(`A response status is from 200 to 599, got ${String(init.status)}`);
    const extracted = extractBody(body);
    if (bodylessStatuses.includes(status) && (extracted.content ?? extracted.stream) !== undefined) {
      throw new TypeError(`A response with status ${status} cannot have a body`);
    }
    super(extracted);
    this.#status = status;
    this.statusText = String(init.statusText ?? '');
    this.headers = new Headers(init.headers);
    if (extracted.type !== undefined && !this.headers.has('content-type')) this.headers.set('content-type', extracted.type);
  }

  get status(): number {
    return this.#status;
  }
  get ok(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }
  get url(): string {
    return this.#facts.url ?? '';
  }
  get redirected(): boolean {
    return this.#facts.redirected ?? false;
  }
  get type(): string {
    return this.#facts.type ?? 'default';
  }
  /** Not of the web: true when the host cut the body at its size limit. */
  get truncated(): boolean {
    return this.#facts.truncated ?? false;
  }

  override async json(): Promise<unknown> {
    try {
      return await super.json();
    } catch (error) {
      if (this.truncated && error instanceof SyntaxError) error.message += ' (the body was cut at the size limit of fetch)';
      throw error;
    }
  }

  clone(): Response {
    const { content, stream } = copyBody(this);
    const copy = new Response(content ?? stream, {
      status: this.#status || 200,
      statusText: this.statusText,
      headers: this.headers,
    });
    if (!this.headers.has('content-type')) copy.headers.delete('content-type');
    copy.#status = this.#status;
    copy.#facts = this.#facts;
    return copy;
  }

  static json(data: unknown, init: ResponseOptions = {}): Response {
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError('Response.json expects a value that JSON can hold');
    const headers = new Headers(init.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    return new Response(text, { ...init, headers });
  }
  static redirect(url: unknown, status = 302): Response {
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError(`${status} is not a status of a redirect`);
    return markFetched(new Response(null, { status, headers: { location: new URL(url).href } }), {});
  }
  static error(): Response {
    const response = markFetched(new Response(), { type: 'error' });
    response.#status = 0;
    return response;
  }
}
