import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createPlugin } from '@extism/extism';
import { buildPluginModule } from '../../src/cli/module-build.ts';
import { startBenchDaemon, typicalPlugin } from '../daemon.ts';
import { type Row, summarise, timeRounds } from '../measure.ts';

const MAX_CALL_MS = 1;
const MAX_FRESH_MS = 10;
const MAX_BUILD_MS = 2000;

const source = typicalPlugin('words', 'first');
const args = { text: 'The quick brown fox jumps over the lazy dog and the dog does not mind the fox', limit: 5 };
const caller = { id: 'local', role: 'admin' } as const;
const never = new AbortController().signal;

const bench = await startBenchDaemon({ 'words.ts': source });
const callDaemon = async () => {
  const answer = await bench.daemon.parts.caller.call({ ref: 'words', arguments: args, caller });
  if (answer.status !== 'success') throw new Error(answer.error?.message ?? answer.status);
  return answer.output;
};
const wanted = await callDaemon();

const folder = mkdtempSync(join(tmpdir(), 'hotcell-bench-build-'));
writeFileSync(join(folder, 'words.ts'), source);
const buildOnce = async () => {
  const outcome = await buildPluginModule(join(folder, 'words.ts'), { config: bench.daemon.parts.config }, never);
  if (!outcome.ok) throw new Error(outcome.diagnostic.message);
  return outcome.module;
};
const bytes = await buildOnce();
const module = await WebAssembly.compile(new Uint8Array(bytes));
const openModule = () => createPlugin({ wasm: [{ module }] }, { useWasi: true, runInWorker: false });
const input = JSON.stringify(args);
const plugin = await openModule();
const callModule = async () => (await plugin.call('words', input))?.json();
if (!isDeepStrictEqual(await callModule(), wanted)) throw new Error('the module gives something else than the daemon');
const callFresh = async () => {
  const fresh = await openModule();
  await fresh.call('words', input);
  await fresh.close();
};

const samples = { warm: [] as number[], fresh: [] as number[], daemon: [] as number[] };
for (const work of [callModule, callDaemon]) await timeRounds(500, work);
await timeRounds(20, callFresh);
for (let round = 0; round < 5; round++) {
  samples.warm.push(...(await timeRounds(400, callModule)));
  samples.daemon.push(...(await timeRounds(400, callDaemon)));
  samples.fresh.push(...(await timeRounds(40, callFresh)));
}
const builds = summarise(await timeRounds(5, buildOnce));
await plugin.close();
await bench.close();
rmSync(folder, { recursive: true, force: true });

const warm = summarise(samples.warm);
const fresh = summarise(samples.fresh);
const daemon = summarise(samples.daemon);
const rows: Row[] = [
  {
    name: 'call of a built module in the plain SDK, its memory put back',
    unit: 'ms',
    ...warm,
    peer: { name: 'the daemon', p50: daemon.p50 },
    target: `<= ${MAX_CALL_MS} ms, same result`,
    met: warm.p50 <= MAX_CALL_MS,
  },
  {
    name: 'the same in a new instance',
    unit: 'ms',
    ...fresh,
    target: `<= ${MAX_FRESH_MS} ms`,
    met: fresh.p50 <= MAX_FRESH_MS,
  },
  {
    name: `hotcell build of a small plugin (${(bytes.length / 1024 / 1024).toFixed(1)} MiB)`,
    unit: 'ms',
    ...builds,
    target: `<= ${MAX_BUILD_MS} ms`,
    met: builds.p50 <= MAX_BUILD_MS,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
