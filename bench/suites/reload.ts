import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type BenchDaemon, startBenchDaemon, typicalPlugin } from '../daemon.ts';
import { type Row, summarise } from '../measure.ts';

const ROUNDS = 100;
const PAUSE_MS = 120;
const caller = { id: 'local', role: 'admin' } as const;
let edition = 0;

/** What the bundler needs for the same text, in the same process and in turns with the saves. */
const bundling: number[] = [];

const alone = await startBenchDaemon({ 'words.ts': typicalPlugin('words', 'none') });
const idle = { rename: await measure(alone, saveByRename), write: await measure(alone, saveInPlace) };
await alone.close();

const many: Record<string, string> = { 'words.ts': typicalPlugin('words', 'none') };
for (let n = 1; n < 1000; n++) many[`plugin-${n}.ts`] = typicalPlugin(`plugin-${n}`, 'none');
const crowd = await startBenchDaemon(many);
const crowded = { rename: await measure(crowd, saveByRename), write: await measure(crowd, saveInPlace) };
await crowd.close();

const bare = summarise(bundling);
const rows: Row[] = [];
for (const way of ['rename', 'write'] as const) {
  const name = way === 'rename' ? 'renamed into place' : 'written in place';
  const [one, thousand] = [idle[way], crowded[way]];
  rows.push({
    name: `save ${name} until a call returns the new result`,
    unit: 'ms',
    ...one,
    target: 'p50 <= 10, p99 <= 30',
    met: one.p50 <= 10 && one.p99 <= 30,
  });
  rows.push({
    name: `the same in times of the bundler alone, ${name}`,
    unit: 'ms',
    ...one,
    peer: { name: 'esbuild', p50: bare.p50 },
    ratio: one.p50 / bare.p50,
    ratioOf: `p99 ${(one.p99 / bare.p50).toFixed(1)} times, p50`,
    target: '<= 3, p99 <= 12',
    met: one.p50 <= 3 * bare.p50 && one.p99 <= 12 * bare.p50,
  });
  const ratio = thousand.p50 / one.p50;
  rows.push({
    name: `the same with 1000 plugins, ${name}`,
    unit: 'ms',
    ...thousand,
    peer: { name: 'one plugin', p50: one.p50 },
    ratio,
    ratioOf: 'ratio',
    target: '<= 1.5',
    met: ratio <= 1.5,
  });
}
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

/** Saves, waits to hear that the plugin changed, and calls it. */
async function measure(bench: BenchDaemon, save: (file: string, text: string) => void): Promise<{ p50: number; p99: number }> {
  const samples: number[] = [];
  const file = join(bench.pluginDir, 'words.ts');
  const { events, caller: client } = bench.daemon.parts;
  for (let round = 0; round < ROUNDS; round++) {
    if (bench === alone) await bundle(bench, round);
    const answer = `edition-${++edition}`;
    const text = typicalPlugin('words', answer);
    const { promise: isLive, resolve } = Promise.withResolvers<void>();
    const stop = events.subscribe({ types: ['plugin-change'] }, () => resolve());
    const start = performance.now();
    save(file, text);
    await isLive;
    const { output } = await client.call({ ref: 'words', arguments: { text: 'a b' }, caller });
    if (round >= 10) samples.push(performance.now() - start);
    stop();
    if ((output as { answer?: unknown } | undefined)?.answer !== answer) throw new Error(`${answer} did not become live`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return summarise(samples);
}

async function bundle(bench: BenchDaemon, round: number): Promise<void> {
  const folder = join(bench.folder, 'alone');
  const entry = join(folder, 'words.ts');
  mkdirSync(folder, { recursive: true });
  writeFileSync(entry, typicalPlugin('words', `alone-${++edition}`));
  const start = performance.now();
  await build({ entryPoints: [entry], bundle: true, write: false, format: 'iife', sourcemap: 'external', outdir: folder });
  if (round >= 10) bundling.push(performance.now() - start);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

function saveByRename(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text);
  renameSync(`${file}.tmp`, file);
}

function saveInPlace(file: string, text: string): void {
  writeFileSync(file, text);
}
