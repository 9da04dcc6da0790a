import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startDaemonProcess, startServerProcess } from '../daemon-process.ts';
import type { Load } from '../load-client.ts';
import { type Row, summarise } from '../measure.ts';

const CONNECTIONS = 32;
const SECONDS = 1;
const ROUNDS = 4;
const client = fileURLToPath(new URL('../load-client.ts', import.meta.url));
const bareServer = fileURLToPath(new URL('../bare-server.ts', import.meta.url));
const body = JSON.stringify({ arguments: { n: 20 } });
const canPin = spawnSync('taskset', ['-c', '1', 'true']).status === 0;

const daemon = await startDaemonProcess({
  'quick.ts': `export default { name: 'quick', handler: (args: { n: number }) => args.n + 1 };`,
});
const path = '/api/tools/quick/call';
const headers = { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' };
const answer = await fetch(`${daemon.url}${path}`, { method: 'POST', headers, body });
const bytes = await answer.text();
if (answer.status !== 200) throw new Error(bytes);
const bare = await startServerProcess([bareServer, bytes], tmpdir());

/** A load, and what the thread of the server that serves requests used for one of them, in µs. */
interface Seen extends Load {
  readonly serverUs: number;
}

const routes = {
  call: { server: daemon, path },
  bare: { server: bare, path: '/bare' },
  hop: { server: bare, path: '/hop' },
} satisfies Record<string, { server: ServerProcess; path: string }>;
type Route = keyof typeof routes;
const seen = { many: emptySeen(), single: emptySeen() };

// In turns, so that whatever else the machine does slows all of them.
for (let round = 0; round <= ROUNDS; round++) {
  for (const name of ['call', 'bare', 'hop'] as const) {
    for (const [kind, connections] of [
      ['many', CONNECTIONS],
      ['single', 1],
    ] as const) {
      const load = await send(name, connections);
      if (round > 0) seen[kind][name].push(load);
    }
  }
}
await bare.close();
await daemon.close();

const middle = (loads: readonly Seen[], of: keyof Seen): number => summarise(loads.map((load) => load[of])).p50;
const rateRatio = middle(seen.many.call, 'perSecond') / middle(seen.many.bare, 'perSecond');
const hopRatio = middle(seen.single.call, 'p50') / middle(seen.single.hop, 'p50');
const tail = middle(seen.single.call, 'p99') / middle(seen.single.call, 'p50');
const costRatio = middle(seen.many.bare, 'serverUs') / middle(seen.many.call, 'serverUs');
const rows: Row[] = [
  {
    name: `calls from outside, ${CONNECTIONS} connections`,
    unit: 'requests/s',
    p50: middle(seen.many.call, 'perSecond'),
    peer: { name: 'bare fastify', p50: middle(seen.many.bare, 'perSecond') },
    ratio: rateRatio,
    ratioOf: 'of bare:',
    target: '>= 0.30',
    met: rateRatio >= 0.3,
  },
  ...(Number.isNaN(costRatio)
    ? []
    : [
        {
          name: 'processor time of the thread that serves requests, for one call',
          unit: 'µs',
          p50: middle(seen.many.call, 'serverUs'),
          peer: { name: 'bare fastify', p50: middle(seen.many.bare, 'serverUs') },
          ratio: costRatio,
          ratioOf: 'of bare:',
          target: 'for the record',
          met: true,
        } satisfies Row,
      ]),
  {
    name: 'calls from outside, one after the other',
    unit: 'ms',
    p50: middle(seen.single.call, 'p50'),
    p99: middle(seen.single.call, 'p99'),
    peer: { name: 'fastify with a hop to a thread', p50: middle(seen.single.hop, 'p50') },
    ratio: hopRatio,
    ratioOf: 'times as long:',
    target: '<= 2',
    met: hopRatio <= 2,
  },
  {
    name: 'the slowest of a hundred of them',
    unit: 'ms',
    p50: middle(seen.single.call, 'p99'),
    ratio: tail,
    ratioOf: 'times the median:',
    target: '<= 5',
    met: tail <= 5,
  },
  {
    name: 'processor time of the client itself, for one request',
    unit: 'µs',
    p50: middle(seen.many.bare, 'cpuMs') * 1000,
    target: 'for the record',
    met: true,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

function emptySeen(): Record<Route, Seen[]> {
  return { call: [], bare: [], hop: [] };
}

async function send(name: Route, connections: number): Promise<Seen> {
  const { server, path: route } = routes[name];
  const before = server.cpuMs();
  const load = await runClient(`${server.url}${route}`, connections);
  const usedMs = (server.cpuMs() ?? Number.NaN) - (before ?? Number.NaN);
  return { ...load, serverUs: (usedMs * 1000) / (load.perSecond * SECONDS) };
}

/** The client runs in a process that is pinned to one core where the machine can. */
function runClient(url: string, connections: number): Promise<Load> {
  const words = { url, token: daemon.token, body, connections: String(connections), seconds: String(SECONDS) };
  const args = [client, ...Object.entries(words).map(([name, value]) => `--${name}=${value}`)];
  const child = canPin ? spawn('taskset', ['-c', '1', process.execPath, ...args]) : spawn(process.execPath, args);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.pipe(process.stderr);
  return new Promise((resolve, reject) => {
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as Load);
      else reject(new Error(`the client ended with ${code}`));
    });
  });
}
