import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { WebSocketServer } from 'ws';

/** The server that the clients among the packages talk to: a little of each service, on a port of this machine. */
export async function startPlace(): Promise<{ readonly base: string; close(): void }> {
  const server = createServer((request, response) => void answer(request, response));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    base: `http://127.0.0.1:${address.port}`,
    close() {
      sockets.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

const completion = (delta: object) => ({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta }] });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const send = (value: unknown) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(value));
  const path = request.url?.split('?')[0];
  switch (path) {
    case '/json':
      return void send({ items: [1, 2] });
    case '/echo':
      return void response.setHeader('Content-Type', 'application/json').end(body);
    case '/graphql':
      return void send({ data: { hello: 'hi' } });
    case '/v1/customers/cus_1':
      return void send({ id: 'cus_1', object: 'customer' });
    case '/v1/messages':
      return void send({ id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hello' }], usage: {} });
    case '/v1/chat/completions': {
      if (!body.includes('"stream":true'))
        return void send({
          id: 'c',
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }],
        });
      response.setHeader('Content-Type', 'text/event-stream');
      for (const content of ['hel', 'lo']) response.write(`data: ${JSON.stringify(completion({ content }))}\n\n`);
      return void response.end('data: [DONE]\n\n');
    }
    default:
      return void response.writeHead(404).end('{}');
  }
}
