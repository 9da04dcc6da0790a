import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { summarise } from './measure.ts';

/** What one run of the client saw. */
export interface Load {
  readonly perSecond: number;
  /** Of one request, in ms, from its last byte written to the last byte of its answer. */
  readonly p50: number;
  readonly p99: number;
  /** What this client itself used of the processor for a request, in ms. */
  readonly cpuMs: number;
}

/**
 * Sends the same request over and over on so many connections, in a process of its own: bytes that are made once, answers of which only
 * the head is looked at, so that as little as possible of what is measured is the client.
 */
const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    token: { type: 'string', default: '' },
    body: { type: 'string', default: '' },
    connections: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '1' },
  },
});
const { hostname, port, pathname } = new URL(values.url);
const request = Buffer.from(
  `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${values.token}\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(values.body)}\r\n\r\n${values.body}`,
);
const samples: number[] = [];
const startedAt = performance.now();
const until = startedAt + Number(values.seconds) * 1000;
const cpuBefore = process.cpuUsage();
await Promise.all(Array.from({ length: Number(values.connections) }, sendUntilOver));
const { user, system } = process.cpuUsage(cpuBefore);
const seconds = (performance.now() - startedAt) / 1000;
const load: Load = {
  perSecond: samples.length / seconds,
  ...summarise(samples),
  cpuMs: (user + system) / 1000 / samples.length,
};
process.stdout.write(JSON.stringify(load));

function sendUntilOver(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let answer = '';
    let sentAt = 0;
    const send = (): void => {
      answer = '';
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setEncoding('latin1');
    socket.on('connect', send);
    socket.on('data', (chunk: string) => {
      answer += chunk;
      const head = answer.indexOf('\r\n\r\n');
      if (head < 0 || answer.length < head + 4 + readLength(answer)) return;
      const now = performance.now();
      samples.push(now - sentAt);
      if (!answer.startsWith('HTTP/1.1 200')) reject(new Error(answer));
      else if (now < until) send();
      else socket.end(resolve);
    });
    socket.on('error', reject);
  });
}

function readLength(answer: string): number {
  const found = /\r\ncontent-length: (\d+)\r\n/i.exec(answer);
  if (found === null) throw new Error(`an answer without its length: ${answer}`);
  return Number(found[1]);
}
