import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A real HTTP server on loopback. */
export interface WebServer extends AsyncDisposable {
  readonly port: number;
  readonly seen: SeenRequest[];
}

/** Starts a server; `answer` writes the response. */
export async function startWebServer(
  answer: (request: SeenRequest, response: ServerResponse) => void,
  host = '127.0.0.1',
): Promise<WebServer> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
