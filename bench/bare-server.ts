import { Worker } from 'node:worker_threads';
import Fastify from 'fastify';

/**
 * What there is at the least: `/bare` parses the body and sends bytes that are made already, `/hop` has them sent to it by another thread, as
 * whoever keeps foreign code off the thread of requests must. The bytes come as argument; the address goes out on the standard output.
 */
const bytes = process.argv[2] ?? '';
const worker = new Worker(
  `const { parentPort } = require('node:worker_threads');
  parentPort.on('message', ([id]) => parentPort.postMessage([id, ${JSON.stringify(bytes)}]));`,
  { eval: true },
);
const waiting = new Map<number, (text: string) => void>();
let next = 0;
worker.on('message', ([id, text]: [number, string]) => {
  waiting.get(id)?.(text);
  waiting.delete(id);
});
const app = Fastify();
app.post('/bare', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(bytes));
app.post('/hop', async (request, reply) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  waiting.set(++next, resolve);
  worker.postMessage([next, JSON.stringify(request.body)]);
  return reply.header('content-type', 'application/json; charset=utf-8').send(await promise);
});
process.stdout.write(`listening on ${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);
