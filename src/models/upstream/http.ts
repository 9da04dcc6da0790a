import { Agent, type Dispatcher, type FormData, request as send } from 'undici';
import type { ModelFailure } from '../../conversation/answer.ts';
import type { UpstreamTarget } from '../upstream.ts';

/** What is posted to a provider. */
export interface UpstreamPost {
  readonly path: string;
  readonly body: string | FormData;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string | undefined;
  readonly signal: AbortSignal;
}

/** The head of what came back; the body is on its way. */
export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: AsyncIterable<Uint8Array>;
  /** Its connection is of no use any more. */
  destroy(): void;
}

/** Connections to providers, kept open between requests. */
export interface UpstreamHttp {
  post(target: UpstreamTarget, post: UpstreamPost): Promise<UpstreamResponse>;
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;
/** Servers close idle connections after five seconds and more. */
const keepAliveMs = 4_000;

/** Opens nothing before the first request. Redirects are not followed. */
export function createUpstreamHttp(): UpstreamHttp {
  const agent = new Agent({ connect: { timeout: connectTimeoutMs }, keepAliveTimeout: keepAliveMs, pipelining: 1 });
  return {
    async post(target, { path, body, headers, key, signal }) {
      const { baseUrl, timeoutMs, authHeader } = target;
      const response = await send(`${baseUrl.replace(/\/+$/, '')}${path}`, {
        dispatcher: agent,
        method: 'POST',
        headers: {
          ...(typeof body === 'string' && { 'content-type': 'application/json' }),
          ...headers,
          ...(key !== undefined && { [authHeader]: authHeader === 'authorization' ? `Bearer ${key}` : key }),
        },
        body,
        signal,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      return {
        status: response.statusCode,
        headers: response.headers,
        body: response.body,
        destroy: () => void response.body.on('error', () => {}).destroy(),
      };
    },
    close: () => agent.destroy(),
  };
}

/** The headers of a response as a web object, for those who read them by name. */
export function toHeaders(headers: UpstreamResponse['headers']): Headers {
  const made = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) made.append(name, one);
  }
  return made;
}

/** What an exception on the way to a provider, or in the middle of its answer, means. */
export function explainLostAnswer(error: unknown, { provider, baseUrl, timeoutMs }: UpstreamTarget): ModelFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/TIMEOUT/.test(code)) {
    const message = `The provider "${provider}" said nothing for ${timeoutMs} ms.`;
    return { kind: 'timeout', status: 504, message, code: 'upstream_timeout' };
  }
  const host = URL.parse(baseUrl)?.host ?? 'no host';
  const what = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)
    ? 'closed the connection before it answered'
    : 'cannot be reached';
  const message = `The server of the provider "${provider}" (${host}) ${what}${code === '' ? '' : ` (${code})`}.`;
  return { kind: 'server-error', status: 502, message, code: 'upstream_unreachable' };
}
