import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Row, summarise } from './measure.ts';
import { runSuite } from './run-suite.ts';

const rounds = 5;
/** A row beyond this against the older commit is named as worse. */
const maxRatio = 1.05;
/** Of these units more is better. */
const growing: ReadonlySet<Row['unit']> = new Set(['requests/s', 'packages']);

/**
 * Runs suites of an older commit and of this checkout in turn, and prints the medians of each row beside each other. Both use
 * the packages of this checkout; what only one of them measures is left out.
 */
export async function compareWith(commit: string, root: string, names: readonly string[]): Promise<void> {
  const older = mkdtempSync(join(tmpdir(), 'hotcell-bench-'));
  git(root, 'worktree', 'add', '--quiet', '--detach', older, commit);
  try {
    symlinkSync(join(root, 'node_modules'), join(older, 'node_modules'));
    symlinkSync(join(root, 'bench', 'node_modules'), join(older, 'bench', 'node_modules'));
    for (const name of names) printPairs(name, await pair(name, { older, newer: root }));
  } finally {
    git(root, 'worktree', 'remove', '--force', older);
    rmSync(older, { recursive: true, force: true });
  }
}

interface Pair {
  readonly row: Row;
  readonly older: number[];
  readonly newer: number[];
}

async function pair(name: string, roots: { readonly older: string; readonly newer: string }): Promise<Pair[]> {
  const pairs = new Map<string, Pair>();
  for (let round = 0; round < rounds; round++) {
    // Who comes first changes, so that a machine that slows down slows both.
    const sides = round % 2 === 0 ? (['older', 'newer'] as const) : (['newer', 'older'] as const);
    for (const side of sides) {
      for (const row of await runSuite(roots[side], name)) {
        const found = pairs.get(row.name) ?? { row, older: [], newer: [] };
        pairs.set(row.name, found);
        found[side].push(row.p50);
      }
    }
  }
  return [...pairs.values()].filter(({ older, newer }) => older.length > 0 && newer.length > 0);
}

function printPairs(name: string, pairs: readonly Pair[]): void {
  process.stdout.write(`${name}: p50 of the older commit, of this one, and the time of this one in that of the older\n`);
  for (const { row, older, newer } of pairs) {
    const [before, now] = [summarise(older).p50, summarise(newer).p50];
    const ratio = growing.has(row.unit) ? before / now : now / before;
    const mark = ratio > maxRatio ? '✗' : '✓';
    const figures = `${before.toPrecision(4)} ${now.toPrecision(4)} ${row.unit}`;
    process.stdout.write(`  ${mark} ${row.name.padEnd(62)} ${figures.padEnd(28)} ${ratio.toFixed(3)}\n`);
  }
}

function git(root: string, ...words: string[]): void {
  const done = spawnSync('git', words, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (done.status !== 0) throw new Error(`git ${words.join(' ')} failed`);
}
