import type { Readable, Transform } from 'node:stream';
import { Agent, type Dispatcher, type FormData, request } from 'undici';
import { createDecoders } from '../../capabilities/network/content-coding.ts';
import type { ModelFailure } from '../../conversation/answer.ts';
import type { UpstreamTarget } from '../upstream.ts';

/** The server of a provider. */
type UpstreamServer = Pick<UpstreamTarget, 'baseUrl' | 'keyHeader' | 'timeoutMs'>;

/** What a provider is asked for. */
interface UpstreamGet {
  /** Goes below the base URL. */
  readonly path: string;
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
  get(server: UpstreamServer, get: UpstreamGet): Promise<UpstreamResponse>;
  post(server: UpstreamServer, post: UpstreamGet & { readonly body: string | FormData }): Promise<UpstreamResponse>;
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;
/** Servers close idle connections after five seconds and more. */
const keepAliveMs = 4_000;

/** Opens nothing before the first request. Redirects are not followed. */
export function createUpstreamHttp(): UpstreamHttp {
  const agent = new Agent({ connect: { timeout: connectTimeoutMs }, keepAliveTimeout: keepAliveMs, pipelining: 1 });

  async function ask(
    { baseUrl, timeoutMs, keyHeader }: UpstreamServer,
    { path, headers, key, signal, body }: UpstreamGet & { readonly body?: string | FormData },
  ): Promise<UpstreamResponse> {
    const response = await request(`${baseUrl.replace(/\/+$/, '')}${path}`, {
      dispatcher: agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
        ...headers,
        ...(key !== undefined && { [keyHeader]: keyHeader === 'authorization' ? `Bearer ${key}` : key }),
      },
      ...(body !== undefined && { body }),
      signal,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    const { statusCode: status, headers: said, body: sent } = response;
    const coding = String(said['content-encoding'] ?? '');
    if (coding !== '' && coding !== 'identity') return { status, ...decode(sent, said, coding) };
    return { status, headers: said, body: sent, destroy: () => void sent.on('error', () => {}).destroy() };
  }

  return { get: ask, post: ask, close: () => agent.destroy() };
}

/** Undefined when there is too much of it. */
export async function readBody({ body }: UpstreamResponse, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Nobody asked for a coding: an answer that has one is read as far as it is one that is known, and counted as what it comes to. */
function decode(body: Readable, headers: UpstreamResponse['headers'], coding: string): Omit<UpstreamResponse, 'status'> {
  const { 'content-encoding': _coding, 'content-length': _length, ...rest } = headers;
  const decoders = createDecoders(coding);
  const stages: (Readable | Transform)[] = [body, ...decoders];
  const last = decoders.reduce<Readable>((from, to) => {
    from.once('error', (error) => to.destroy(error));
    return from.pipe(to);
  }, body);
  return {
    headers: decoders.length === 0 ? headers : rest,
    body: last,
    destroy() {
      for (const stage of stages) stage.on('error', () => {}).destroy();
    },
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
export function explainLostAnswer(
  error: unknown,
  target: Pick<UpstreamTarget, 'provider' | 'baseUrl' | 'timeoutMs'>,
  hasBegun = false,
): ModelFailure {
  const { provider, baseUrl, timeoutMs } = target;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/TIMEOUT/.test(code) || (error instanceof Error && error.name === 'TimeoutError')) {
    const message = `The provider "${provider}" said nothing for ${timeoutMs} ms.`;
    return { kind: 'timeout', status: 504, message, code: 'upstream_timeout' };
  }
  if (hasBegun) return brokenOff(target);
  const host = URL.parse(baseUrl)?.host ?? 'no host';
  const what = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)
    ? 'closed the connection before it answered'
    : 'cannot be reached';
  const message = `The server of the provider "${provider}" (${host}) ${what}${code === '' ? '' : ` (${code})`}.`;
  return { kind: 'server-error', status: 502, message, code: 'upstream_unreachable' };
}

/** What an answer without its end means. */
export function brokenOff({ provider }: Pick<UpstreamTarget, 'provider'>): ModelFailure {
  const message = `The provider "${provider}" broke off in the middle of its answer.`;
  return { kind: 'server-error', status: 502, message, code: 'upstream_broken_off' };
}

/** An answer beyond this is no answer. */
export const maxAnswerBytes = 64 * 1024 * 1024;
export const tooLong: ModelFailure = {
  kind: 'server-error',
  status: 502,
  message: `The answer of the provider has more than ${maxAnswerBytes} bytes.`,
  code: 'upstream_too_long',
};
