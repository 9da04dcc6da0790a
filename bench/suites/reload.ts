import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchDaemon, startBenchDaemon, typicalPlugin } from '../daemon.ts';
import { type Row, summarise } from '../measure.ts';

const ROUNDS = 150;
const PAUSE_MS = 120;
const caller = { id: 'local', role: 'admin' } as const;
let edition = 0;

const alone = await startBenchDaemon({ 'words.ts': typicalPlugin('words', 'none') });
const idle = { rename: await measure(alone, saveByRename), write: await measure(alone, saveInPlace) };
await alone.close();

const many: Record<string, string> = { 'words.ts': typicalPlugin('words', 'none') };
for (let n = 1; n < 1000; n++) many[`plugin-${n}.ts`] = typicalPlugin(`plugin-${n}`, 'none');
const crowd = await startBenchDaemon(many);
const crowded = { rename: await measure(crowd, saveByRename), write: await measure(crowd, saveInPlace) };
await crowd.close();

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

/** Saves, then calls without a pause until the new text answers. */
async function measure(bench: BenchDaemon, save: (file: string, text: string) => void): Promise<{ p50: number; p99: number }> {
  const samples: number[] = [];
  const file = join(bench.pluginDir, 'words.ts');
  for (let round = 0; round < ROUNDS; round++) {
    const answer = `edition-${++edition}`;
    const text = typicalPlugin('words', answer);
    const start = performance.now();
    save(file, text);
    while ((await ask(bench)) !== answer) {
      if (performance.now() - start > 5000) throw new Error(`${answer} did not become live`);
    }
    if (round >= 10) samples.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return summarise(samples);
}

async function ask(bench: BenchDaemon): Promise<unknown> {
  // A turn of the event loop between two calls: the daemon must come to see the change.
  await new Promise((resolve) => setTimeout(resolve, 1));
  const answer = await bench.daemon.parts.caller.call({ ref: 'words', arguments: { text: 'a b' }, caller });
  return (answer.output as { answer?: unknown } | undefined)?.answer;
}

function saveByRename(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text);
  renameSync(`${file}.tmp`, file);
}

function saveInPlace(file: string, text: string): void {
  writeFileSync(file, text);
}
