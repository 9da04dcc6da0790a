import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** What one request brought. */
export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent freely
  readonly body: any;
}

type Script = (request: ProviderRequest, response: ServerResponse) => void;

/** A raw server that answers what it is told to. */
export async function startProvider(script: Script = (_request, response) => response.writeHead(404).end()) {
  const seen: ProviderRequest[] = [];
  const waiting: Script[] = [];
  let otherwise = script;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const isJson = request.headers['content-type']?.includes('json') === true;
      const one = { path: request.url ?? '', headers: request.headers, body: isJson ? JSON.parse(body || '{}') : body };
      seen.push(one);
      (waiting.shift() ?? otherwise)(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    /** The answer to the next request that has none yet. */
    next: (answer: Script) => void waiting.push(answer),
    /** Answers that nobody asked for are not given any more. */
    forget: () => void waiting.splice(0),
    always(answer: Script) {
      otherwise = answer;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** What `startProvider` gives. */
export type Provider = Awaited<ReturnType<typeof startProvider>>;

/** Answers with JSON. */
export const sendJson = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

/** Answers with a stream that is there at once. */
export const sendStream = (response: ServerResponse, text: string): void =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
