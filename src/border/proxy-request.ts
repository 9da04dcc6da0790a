/** What a client asks of the proxy. */
export type ProxyRequest =
  /** Bytes go through as they are. */
  | { readonly kind: 'tunnel'; readonly host: string; readonly port: number }
  /** One plain HTTP request, whose head is to be sent as `head`. */
  | { readonly kind: 'forward'; readonly host: string; readonly port: number; readonly head: string }
  | { readonly kind: 'bad'; readonly reason: string };

const hopHeaders = /^(?:proxy-[\w-]+|connection|keep-alive|te|upgrade):/i;

/**
 * Reads the head of a request to the proxy (up to the empty line, without it): `CONNECT host:port`, or a plain HTTP request
 * with the whole URL. A forwarded request is the only one of its connection, so that a second one cannot go elsewhere.
 */
export function readProxyRequest(head: string): ProxyRequest {
  const [first = '', ...headers] = head.split('\r\n');
  const [, method = '', target = '', version = ''] = /^([A-Z]{3,16}) (\S{1,8192}) (HTTP\/1\.[01])$/.exec(first) ?? [];
  if (version === '') return { kind: 'bad', reason: 'The proxy speaks HTTP/1.1.' };
  if (headers.some((header) => !/^[\w!#$%&'*+.^`|~-]+:/.test(header) || /[\r\n\0]/.test(header))) {
    return { kind: 'bad', reason: 'A header of the request cannot be read.' };
  }
  if (method === 'CONNECT') {
    const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[^:/@\s]+):(\d{1,5})$/i.exec(target) ?? [];
    return host === '' ? { kind: 'bad', reason: 'CONNECT needs host:port.' } : { kind: 'tunnel', host, port: Number(port) };
  }
  const url = URL.parse(target);
  if (url === null || url.protocol !== 'http:' || url.username !== '' || url.password !== '') {
    return { kind: 'bad', reason: 'The proxy needs a whole http: URL, or CONNECT.' };
  }
  const kept = headers.filter((header) => !hopHeaders.test(header) && !/^host:/i.test(header));
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`, ...kept, 'Connection: close'];
  return {
    kind: 'forward',
    host: url.hostname,
    port: url.port === '' ? 80 : Number(url.port),
    head: `${lines.join('\r\n')}\r\n\r\n`,
  };
}
