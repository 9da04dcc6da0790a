import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import Fastify from 'fastify';
import { startBenchDaemon } from '../daemon.ts';
import type { Row } from '../measure.ts';

const CONNECTIONS = 32;
const SECONDS = 6;
const generator = fileURLToPath(new URL('../node_modules/autocannon/autocannon.js', import.meta.url));
const body = JSON.stringify({ arguments: { n: 20 } });

const bench = await startBenchDaemon(
  { 'quick.ts': `export default { name: 'quick', handler: (args: { n: number }) => args.n + 1 };` },
  { listen: true },
);
const url = `${bench.daemon.url}/api/tools/quick/call`;
const headers = { authorization: `Bearer ${bench.daemon.token}`, 'content-type': 'application/json' };
const answer = await fetch(url, { method: 'POST', headers, body });
const bytes = await answer.text();
if (answer.status !== 200) throw new Error(bytes);

// The bare route parses the same body and returns the very same bytes.
const bare = Fastify();
bare.post('/call', (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(bytes));
const bareUrl = `${await bare.listen({ port: 0, host: '127.0.0.1' })}/call`;

await load(bareUrl, 2);
const bareRate = await load(bareUrl, SECONDS);
await load(url, 2);
const ourRate = await load(url, SECONDS);
await bare.close();
await bench.close();
const ratio = ourRate / bareRate;
const rows: Row[] = [
  {
    name: `POST /api/tools/:ref/call, ${CONNECTIONS} connections, generator on one core`,
    unit: 'requests/s',
    p50: ourRate,
    peer: { name: 'bare fastify', p50: bareRate },
    ratio,
    ratioOf: 'of bare:',
    target: '>= 0.30',
    met: ratio >= 0.3,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

/** Requests a second, from a process that is pinned to one core where the machine can. */
function load(target: string, seconds: number): Promise<number> {
  const args = [generator, '-j', '-c', String(CONNECTIONS), '-d', String(seconds), '-m', 'POST', '-b', body];
  for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}=${value}`);
  args.push(target);
  const canPin = spawnSync('taskset', ['-c', '1', 'true']).status === 0;
  const child = canPin ? spawn('taskset', ['-c', '1', process.execPath, ...args]) : spawn(process.execPath, args);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('exit', () => {
      const result = JSON.parse(output) as { requests: { average: number }; errors: number; non2xx: number };
      if (result.errors + result.non2xx > 0) reject(new Error(`${result.errors} errors, ${result.non2xx} refusals`));
      else resolve(result.requests.average);
    });
  });
}
