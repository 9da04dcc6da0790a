import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBenchDaemon } from '../daemon.ts';
import { type Row, summarise } from '../measure.ts';

const ROUNDS = 8;
const LIVE_WITHIN_MS = 500;
const caller = { id: 'local', role: 'admin' } as const;
const plugin = (name: string, answer: string) => `export default { name: '${name}', handler: () => '${answer}' };\n`;

const bench = await startBenchDaemon({ 'one.ts': plugin('one', 'start') });
const file = join(bench.pluginDir, 'one.ts');
let reloads = 0;
bench.daemon.parts.events.subscribe({ types: ['plugin-change'] }, () => {
  reloads++;
});
let edition = 0;
const next = () => `edition-${String(++edition).padStart(5, '0')}`;

const rows: Row[] = [];
await pattern('vim (backup by rename, new file, backup removed)', (text) => {
  renameSync(file, `${file}~`);
  writeFileSync(file, text);
  unlinkSync(`${file}~`);
});
await pattern('in place, as VS Code writes', (text) => writeFileSync(file, text));
await pattern('shell redirect', (text) => {
  execFileSync('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', text, file]);
});
await pattern('rsync (hidden temporary file, rename)', (text) => {
  const temporary = join(bench.pluginDir, '.one.ts.Xy12Zq');
  writeFileSync(temporary, text);
  renameSync(temporary, file);
});
await pattern('same size, same mtime', (text) => {
  const { atime, mtime } = statSync(file);
  writeFileSync(file, text);
  utimesSync(file, atime, mtime);
});
await pattern('old mtime', (text) => {
  const temporary = `${file}.tmp`;
  writeFileSync(temporary, text);
  utimesSync(temporary, 1_000_000, 1_000_000);
  renameSync(temporary, file);
});
await pattern('slow partial writes', async (text) => {
  writeFileSync(file, '');
  for (let at = 0; at < text.length; at += 20) {
    await appendFile(file, text.slice(at, at + 20));
    await pause(30);
  }
});
await pattern('hard link renamed into place', (text) => {
  const source = join(bench.folder, 'linked.ts');
  writeFileSync(source, text);
  linkSync(source, `${file}.tmp`);
  renameSync(`${file}.tmp`, file);
  unlinkSync(source);
});
await pattern('delete and recreate', async (text) => {
  unlinkSync(file);
  await pause(20);
  writeFileSync(file, text);
});
await pattern('symlink swap', (text) => {
  const target = join(bench.pluginDir, `_target-${edition}.ts`);
  writeFileSync(target, text);
  symlinkSync(target, `${file}.tmp`);
  renameSync(`${file}.tmp`, file);
});
unlinkSync(file);
writeFileSync(file, plugin('one', 'plain'));
await pattern('folder moved away, changed and moved back', async (text) => {
  const away = `${bench.pluginDir}-away`;
  renameSync(bench.pluginDir, away);
  await pause(50);
  writeFileSync(join(away, 'one.ts'), text);
  renameSync(away, bench.pluginDir);
});
await pattern('200 saves in a second', async (_text, answer) => {
  for (let save = 1; save < 200; save++) {
    writeFileSync(file, plugin('one', `${answer}-${save}`));
    await pause(5);
  }
  writeFileSync(file, plugin('one', answer));
});
await checkout();
await bench.close();
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

/** Saves in one way again and again; measures from the end of the save until the new text answers. */
async function pattern(name: string, save: (text: string, answer: string) => void | Promise<void>): Promise<void> {
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const answer = next();
    await save(plugin('one', answer), answer);
    samples.push(await untilLive('one', answer));
    await pause(150);
  }
  const { p50, p99 } = summarise(samples);
  rows.push({ name: `live after: ${name}`, unit: 'ms', p50, p99, target: `<= ${LIVE_WITHIN_MS} ms`, met: p99 <= LIVE_WITHIN_MS });
}

/** A version control system writes 300 files one after the other. */
async function checkout(): Promise<void> {
  const write = (answer: string) => {
    for (let n = 0; n < 300; n++) {
      const path = join(bench.pluginDir, `many-${n}.ts`);
      rmSync(path, { force: true });
      writeFileSync(path, plugin(`many-${n}`, answer));
    }
  };
  mkdirSync(bench.pluginDir, { recursive: true });
  const samples: number[] = [];
  let perFile = 0;
  for (let round = 0; round < 3; round++) {
    const answer = next();
    reloads = 0;
    write(answer);
    const start = performance.now();
    for (let n = 0; n < 300; n++) await untilLive(`many-${n}`, answer);
    samples.push(performance.now() - start);
    await pause(800);
    perFile = reloads / 300;
  }
  const { p50, p99 } = summarise(samples);
  rows.push({
    name: 'checkout of 300 files until all are live',
    unit: 'ms',
    p50,
    p99,
    target: `for the record; ${perFile.toFixed(2)} changes of state a file`,
    met: true,
  });
}

async function untilLive(name: string, answer: string): Promise<number> {
  const start = performance.now();
  for (;;) {
    const output = await bench.daemon.parts.caller.call({ ref: name, arguments: {}, caller }).then(
      (result) => result.output,
      () => undefined,
    );
    if (output === answer) return performance.now() - start;
    if (performance.now() - start > 10_000) throw new Error(`${answer} did not become live`);
    await pause(2);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
