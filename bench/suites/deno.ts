import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Isolation } from '../../src/engines/engine.ts';
import { createDenoEngine } from '../../src/engines/process/deno/deno-engine.ts';
import { requireDeno } from '../../src/engines/process/deno/find-deno.ts';
import { createEngineCall } from '../engine-call.ts';
import { type Row, summarise, timeRounds } from '../measure.ts';

const WARM_ROUNDS = 2000;
const SPAWN_ROUNDS = 40;
const MIN_RATIO = 50;
const MIN_FRESH_RATIO = 2;
const READY_MS = 500;

const folder = mkdtempSync(join(tmpdir(), 'hotcell-bench-deno-'));
const handler = `function handler(args) {
  const counts = new Map();
  for (const word of args.text.toLowerCase().split(/\\W+/)) if (word) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, args.limit);
}`;
const args = JSON.stringify({ text: 'The quick brown fox jumps over the lazy dog and the dog does not mind the fox', limit: 5 });
const expected = '[["the",4],["dog",2],["fox",2],["and",1],["brown",1]]';

const engine = createDenoEngine({ dataDir: folder, forbiddenSegments: [] });
const code = `export default { name: 'words', handler };\n${handler}`;
const runAs = createEngineCall(engine, { label: 'words.ts', code, argumentsJson: args });
const callAs = (isolation: Isolation) => async () => {
  const outcome = await runAs(isolation);
  if (outcome.status !== 'success' || outcome.outputJson !== expected) throw new Error(JSON.stringify(outcome));
};

// The peer: the same handler as a script, started for every call with nothing allowed, as people do without a daemon.
const script = join(folder, 'words.js');
writeFileSync(script, `${handler}\nconsole.log(JSON.stringify(handler(JSON.parse(Deno.args[0]))));\n`);
const binary = requireDeno();
const env = { DENO_DIR: join(folder, 'cache'), DENO_NO_UPDATE_CHECK: '1' };
const spawnOnce = async () => {
  const output = execFileSync(binary, ['run', '--quiet', '--no-prompt', '--no-config', script, args], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (output.trim() !== expected) throw new Error(output);
};

/** A call in a process of its own, once the one that is made ready after every call is there. */
const timeFresh = async (rounds: number) => {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setTimeout(resolve, READY_MS));
    taken.push(...(await timeRounds(1, callAs('call'))));
  }
  return taken;
};

const warm = callAs('plugin');
await timeRounds(200, warm);
await timeRounds(3, spawnOnce);
const samples = { warm: [] as number[], fresh: [] as number[], spawned: [] as number[] };
for (let round = 0; round < 4; round++) {
  samples.warm.push(...(await timeRounds(WARM_ROUNDS / 4, warm)));
  samples.spawned.push(...(await timeRounds(SPAWN_ROUNDS / 4, spawnOnce)));
  samples.fresh.push(...(await timeFresh(SPAWN_ROUNDS / 4)));
}
await engine.close();
rmSync(folder, { recursive: true, force: true });

const call = summarise(samples.warm);
const fresh = summarise(samples.fresh);
const spawned = summarise(samples.spawned);
const ratio = spawned.p50 / call.p50;
const peer = { name: 'deno run', p50: spawned.p50 };
const rows: Row[] = [
  {
    name: 'Deno call in a process that was kept',
    unit: 'ms',
    ...call,
    peer,
    ratio,
    ratioOf: 'times faster:',
    target: `>= ${MIN_RATIO}`,
    met: ratio >= MIN_RATIO,
  },
  {
    name: 'Deno call in a process of its own, made ready after the last call',
    unit: 'ms',
    ...fresh,
    peer,
    ratio: spawned.p50 / fresh.p50,
    ratioOf: 'times faster:',
    target: `>= ${MIN_FRESH_RATIO}`,
    met: spawned.p50 / fresh.p50 >= MIN_FRESH_RATIO,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
