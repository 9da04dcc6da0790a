import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { startDaemonProcess, startServerProcess } from '../daemon-process.ts';
import { type Row, summarise } from '../measure.ts';

// One run: a provider that answers at once, asked directly, through Portkey's gateway and through the daemon, each a process of its own.

const ROUNDS = 12;
const REQUESTS = 50;
const STREAMS = 500;
const GROUP = 100;
const PAUSE_MS = 200;

const root = fileURLToPath(new URL('../../', import.meta.url));
const provider = await startServerProcess([`${root}bench/model-server.ts`], root);
const daemon = await startDaemonProcess({}, { models: { providers: { local: { baseUrl: `${provider.url}/v1`, model: 'm' } } } });
const portkeyPort = await freePort();
const portkey = spawn(
  process.execPath,
  [`${root}node_modules/@portkey-ai/gateway/build/start-server.js`, `--port=${portkeyPort}`, '--headless'],
  {
    stdio: 'ignore',
  },
);
const agent = new Agent({ keepAliveTimeout: 1000 });

interface Place {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}
const places = {
  direct: { url: `${provider.url}/v1/chat/completions`, headers: {}, model: 'm' },
  portkey: {
    url: `http://127.0.0.1:${portkeyPort}/v1/chat/completions`,
    headers: { authorization: 'Bearer k', 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${provider.url}/v1` },
    model: 'm',
  },
  ours: { url: `${daemon.url}/v1/chat/completions`, headers: { authorization: `Bearer ${daemon.token}` }, model: 'local' },
} satisfies Record<string, Place>;
type Name = keyof typeof places;
const names: readonly Name[] = ['direct', 'portkey', 'ours'];
await untilAnswers(places.portkey);

const wholes: Record<Name, number[]> = { direct: [], portkey: [], ours: [] };
const firsts = { direct: [] as number[], ours: [] as number[] };
for (const name of names)
  for (let count = 0; count < REQUESTS; count++) await ask(places[name], name !== 'portkey' && count % 2 === 0);
for (let round = 0; round < ROUNDS; round++) {
  for (const name of names) {
    for (let count = 0; count < REQUESTS; count++) {
      wholes[name].push((await ask(places[name], false)).endMs);
      // Portkey answers requests for a stream with 500 on this Node.
      if (name !== 'portkey') firsts[name].push((await ask(places[name], true)).firstMs);
    }
  }
}
const memoryBefore = daemon.residentMb() ?? 0;
let memoryMost = memoryBefore;
const watch = setInterval(() => {
  memoryMost = Math.max(memoryMost, daemon.residentMb() ?? 0);
}, 50);
const direct = await openStreams(places.direct);
const ours = await openStreams(places.ours);
clearInterval(watch);

const whole = { direct: summarise(wholes.direct), portkey: summarise(wholes.portkey), ours: summarise(wholes.ours) };
const first = { direct: summarise(firsts.direct), ours: summarise(firsts.ours) };
const added = { ours: whole.ours.p50 - whole.direct.p50, portkey: whole.portkey.p50 - whole.direct.p50 };
const gaps = { direct: Math.max(...direct.map(({ gapMs }) => gapMs)), ours: Math.max(...ours.map(({ gapMs }) => gapMs)) };
const rows: Row[] = [
  {
    name: 'a whole answer: what the gateway adds to a direct request',
    unit: 'ms',
    p50: added.ours,
    peer: { name: '@portkey-ai/gateway adds', p50: added.portkey },
    ratio: added.ours / added.portkey,
    ratioOf: 'of the peer:',
    target: '<= 0.5 of what Portkey adds',
    met: added.ours <= added.portkey / 2,
  },
  {
    name: 'the first byte of a stream, later than directly',
    unit: 'ms',
    p50: first.ours.p50 - first.direct.p50,
    target: '<= 1 ms',
    met: first.ours.p50 - first.direct.p50 <= 1,
  },
  {
    name: `${STREAMS} streams at once: the longest silence in one of them`,
    unit: 'ms',
    p50: gaps.ours,
    peer: { name: 'directly', p50: gaps.direct },
    target: `no stall: <= 1 s (chunks come every ${PAUSE_MS} ms)`,
    met: gaps.ours <= 1000,
  },
  {
    name: `${STREAMS} streams at once: memory that the daemon grows by`,
    unit: 'MB',
    p50: memoryMost - memoryBefore,
    target: '<= 200 MB',
    met: memoryMost - memoryBefore <= 200,
  },
];
portkey.kill();
await agent.close();
await daemon.close();
await provider.close();
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

/** One request; when its first byte and its end came, and the longest silence in between. */
async function ask({ url, headers, model }: Place, isStreamed: boolean, pauseMs?: number) {
  const begin = performance.now();
  const body = {
    model,
    messages: [{ role: 'user', content: 'Say hello.' }],
    stream: isStreamed,
    ...(pauseMs && { pause_ms: pauseMs }),
  };
  const response = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  let firstMs = 0;
  let last = 0;
  let gapMs = 0;
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${await response.body.text()}`);
  for await (const _chunk of response.body) {
    const now = performance.now() - begin;
    if (firstMs === 0) firstMs = now;
    else gapMs = Math.max(gapMs, now - last);
    last = now;
  }

  return { firstMs, gapMs, endMs: performance.now() - begin };
}

/** All are open at once; they begin in groups, since a daemon lets only so many connections wait that showed no key yet. */
async function openStreams(place: Place) {
  const streams: ReturnType<typeof ask>[] = [];
  while (streams.length < STREAMS) {
    for (let count = 0; count < GROUP; count++) streams.push(ask(place, true, PAUSE_MS));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return Promise.all(streams);
}

async function untilAnswers(place: Place): Promise<void> {
  for (;;) {
    try {
      await ask(place, false);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
