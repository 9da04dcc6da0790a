import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { createPlugin } from '@extism/extism';
import { resolveLimits } from '../../src/config/limits.ts';
import { createExtismEngine } from '../../src/engines/extism/extism-engine.ts';
import { embedSidecar } from '../../src/engines/extism/module/sidecar.ts';
import { createEngineCall } from '../engine-call.ts';
import { type Row, summarise, timeRounds } from '../measure.ts';

const ROUNDS = 3000;
const MAX_RATIO = 1.3;

const file = (name: string) => readFileSync(new URL(`../../wasm/${name}`, import.meta.url));
const bytes = file('count-vowels.wasm');
const input = JSON.stringify({ text: 'The quick brown fox jumps over the lazy dog' });
const code = embedSidecar('count-vowels.wasm', bytes, { file: 'count-vowels.json', text: file('count-vowels.json').toString() });
const engine = createExtismEngine();
const limits = resolveLimits();
const runAs = createEngineCall(engine, { label: 'count-vowels.wasm', code, argumentsJson: input });
const ours = async () => {
  const outcome = await runAs('call');
  if (outcome.status !== 'success') throw new Error(outcome.error.message);
};

// The SDK alone, with the same promise: a fresh instance for every call, the module compiled once.
const module = await WebAssembly.compile(bytes);
const bare = async () => {
  const plugin = await createPlugin({ wasm: [{ module }] }, { useWasi: false, runInWorker: false });
  const output = await plugin.call('count_vowels', input);
  if (output?.json().vowels === undefined) throw new Error('no output');
  await plugin.close();
};

// What it ordinarily costs to reach another thread and to come back, with messages of the same size: both sides sleep in between.
const echo = new Worker('require("node:worker_threads").parentPort.on("message", function (m) { this.postMessage(m); })', {
  eval: true,
});
const hop = () =>
  new Promise((resolve) => {
    echo.once('message', resolve);
    echo.postMessage({ type: 'run', call: { module, input, config: {}, bounds: limits } });
  });

const samples = { ours: [] as number[], bare: [] as number[], hop: [] as number[] };
for (const work of [ours, bare, hop]) await timeRounds(500, work);
for (let round = 0; round < 6; round++) {
  samples.ours.push(...(await timeRounds(ROUNDS / 6, ours)));
  samples.bare.push(...(await timeRounds(ROUNDS / 6, bare)));
  samples.hop.push(...(await timeRounds(ROUNDS / 6, hop)));
}
await echo.terminate();
await engine.close();

const call = summarise(samples.ours);
const sdk = summarise(samples.bare);
const thread = summarise(samples.hop);
const ratio = (call.p50 - thread.p50) / sdk.p50;
const rows: Row[] = [
  {
    name: `Extism call without the thread hop (${thread.p50.toFixed(3)} ms)`,
    unit: 'ms',
    ...call,
    peer: { name: 'the bare SDK', p50: sdk.p50 },
    ratio,
    ratioOf: 'of the SDK:',
    target: `<= ${MAX_RATIO}`,
    met: ratio <= MAX_RATIO,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
