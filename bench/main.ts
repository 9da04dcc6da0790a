import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compareWith } from './against.ts';
import type { Row } from './measure.ts';
import { installPeers, runSuite } from './run-suite.ts';

/**
 * Runs every suite (or those named on the command line) in a process of its own, prints a table, keeps the figures as JSON. With
 * `--against COMMIT` the suites of that commit run in turn with these, and the table shows both.
 */
const root = fileURLToPath(new URL('../', import.meta.url));
const { values, positionals: wanted } = parseArgs({ allowPositionals: true, options: { against: { type: 'string' } } });

installPeers(root);
const names = readdirSync(`${root}bench/suites`)
  .map((file) => file.replace(/\.ts$/, ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .sort();
if (values.against === undefined) await measure();
else await compareWith(values.against, root, names);

async function measure(): Promise<void> {
  const report: Record<string, Row[]> = {};
  for (const name of names) {
    process.stderr.write(`${name} …\n`);
    report[name] = await runSuite(root, name);
    printRows(report[name] ?? []);
  }
  keep(report);
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
  mkdirSync(`${root}bench/results`, { recursive: true });
  const at = new Date().toISOString();
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  writeFileSync(
    `${root}bench/results/${at.slice(0, 19).replaceAll(':', '-')}.json`,
    `${JSON.stringify({ at, machine, figures }, null, 2)}\n`,
  );
}
