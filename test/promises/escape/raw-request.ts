import { Agent, request } from 'node:http';

/** A request as no well-behaved client would send it. */
export interface RawRequest {
  readonly method: string;
  /** Any printable text without spaces. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came back; `status` is 0 when the server let go of the connection. */
export interface RawAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends requests to one server, one connection for many of them. */
export function createRawClient(url: string) {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  function send(raw: RawRequest): Promise<RawAnswer> {
    const { method, path, headers, body } = raw;
    const { promise, resolve } = Promise.withResolvers<RawAnswer>();
    const content = method === 'GET' || method === 'HEAD' ? '' : body;
    const length = content === '' ? {} : { 'content-length': String(Buffer.byteLength(content)) };
    const sent = request({ hostname, port, agent, method, path, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      const end = () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          text: Buffer.concat(chunks).toString('utf8'),
        });
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', end);
      response.on('end', end);
    });
    // A kept connection may be closed while it is taken up again: that says nothing of this request.
    sent.on('error', () => resolve(sent.reusedSocket ? send(raw) : { status: 0, type: '', text: '' }));
    sent.end(content);
    return promise;
  }
  return { send, close: () => agent.destroy() };
}
