import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Row } from './measure.ts';

/** Runs every suite (or those named on the command line) in a process of its own, prints a table, keeps the figures as JSON. */
const here = fileURLToPath(new URL('.', import.meta.url));
const suitesDir = `${here}suites`;
const wanted = process.argv.slice(2);

installPeers();
const names = readdirSync(suitesDir)
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .sort();
const report: Record<string, Row[]> = {};
for (const name of names) {
  process.stderr.write(`${name} …\n`);
  report[name] = await runSuite(name);
  printRows(report[name] ?? []);
}
keep(report);

function installPeers(): void {
  if (existsSync(`${here}node_modules/run`)) return;
  process.stderr.write('installing the peers (npm ci in bench) …\n');
  const done = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
  if (done.status !== 0) throw new Error('the peers could not be installed');
}

function runSuite(name: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--expose-gc', `${suitesDir}/${name}.ts`], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on('exit', (code) => {
      if (code === 0) resolve(JSON.parse(output.trim().split('\n').at(-1) ?? '[]') as Row[]);
      else reject(new Error(`the suite ${name} ended with ${code}`));
    });
  });
}

function printRows(rows: readonly Row[]): void {
  for (const row of rows) {
    const figures = [`p50 ${format(row.p50)}`, ...(row.p99 === undefined ? [] : [`p99 ${format(row.p99)}`])].join('  ');
    const peer = row.peer ? `  ${row.peer.name} ${format(row.peer.p50)}` : '';
    const ratio = row.ratio === undefined ? '' : `  ${row.ratioOf ?? 'ratio'} ${row.ratio.toFixed(2)}`;
    process.stdout.write(
      `  ${row.met ? '✓' : '✗'} ${row.name.padEnd(62)} ${figures} ${row.unit}${peer}${ratio}   (${row.target})\n`,
    );
  }
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(4);
}

function keep(figures: Record<string, Row[]>): void {
  mkdirSync(`${here}results`, { recursive: true });
  const at = new Date().toISOString();
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  writeFileSync(
    `${here}results/${at.slice(0, 19).replaceAll(':', '-')}.json`,
    `${JSON.stringify({ at, machine, figures }, null, 2)}\n`,
  );
}
