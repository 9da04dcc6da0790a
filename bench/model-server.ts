import { createServer } from 'node:http';

/**
 * A provider that answers at once: whole, or as a stream whose chunks come with a pause between them (the header `x-pause-ms`) where one is
 * asked for. The address goes out on the standard output.
 */
const chunks = 20;
const whole = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
});
const piece = (content: string) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content } }] })}\n\n`;

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.on('end', () => {
    const { stream, pause_ms: pauseMs } = JSON.parse(body);
    if (stream !== true) return void response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let sent = 0;
    const send = (): void => {
      response.write(piece(`word ${sent} `));
      sent += 1;
      if (sent === chunks) response.end('data: [DONE]\n\n');
      else if (pauseMs === undefined) setImmediate(send);
      else setTimeout(send, pauseMs);
    };
    send();
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`listening on http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
