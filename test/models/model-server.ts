import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** What one request brought. */
export interface SeenRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model?: string;
    readonly messages?: readonly { readonly role: string; readonly content: string }[];
    readonly max_tokens?: number;
    readonly temperature?: number;
    readonly response_format?: unknown;
  };
}

type Answer = (seen: SeenRequest, response: ServerResponse) => void;

/** A model server on loopback that speaks the OpenAI wire format. */
export async function startModelServer() {
  const seen: SeenRequest[] = [];
  const answers: Answer[] = [];
  let otherwise: Answer = (_seen, response) => complete(response, 'pong');
  const closed: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const one = { path: request.url ?? '', authorization: request.headers.authorization, body: JSON.parse(body || '{}') };
      seen.push(one);
      if (request.method === 'GET') return void response.end('{"data":[{"id":"listed-model"}]}');
      response.on('close', () => closed.push(response.writableFinished ? 'answered' : 'cut'));
      (answers.shift() ?? otherwise)(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    port,
    seen,
    /** How connections of requests ended. */
    closed,
    /** The answer to the next request that has none yet. */
    next: (answer: Answer) => void answers.push(answer),
    always(answer: Answer) {
      otherwise = answer;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** An answer as such servers give it. */
export function complete(
  response: ServerResponse,
  content: string,
  usage: object | null = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  finish = 'stop',
): void {
  const body = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm-1',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }],
    ...(usage === null ? {} : { usage }),
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** An error as such servers give it. */
export function fail(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ error: { message, type: 'error', param: null, code: null } }));
}
