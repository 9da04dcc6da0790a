import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, mutants } from '../test/long/mutants.ts';

// `node scripts/mutants.ts [WORD…]`: takes one defence after the other out of a copy of the sources and runs the tests that
// attack it. A mutant that its tests let pass has survived: the test does not notice that the defence is gone.
const root = fileURLToPath(new URL('../', import.meta.url));
const copies = 2;
/** A mutant that hangs its tests is noticed, too. */
const wallMs = 240_000;

type Verdict = 'killed' | 'survived' | 'stale' | 'broken';

const words = process.argv.slice(2);
const chosen = mutants.filter(
  ({ promise, what, file }) => words.length === 0 || words.some((word) => `${promise} ${what} ${file}`.includes(word)),
);
const queue = [...chosen];
const left: string[] = [];
/** By test files: whether they pass while every defence stands. */
const whole = new Map<string, Promise<boolean>>();
await Promise.all(Array.from({ length: copies }, work));
console.log(`\n${chosen.length - left.length} killed, ${left.length} not`);
for (const line of left) console.log(`  ${line}`);
process.exitCode = left.length === 0 ? 0 : 1;

async function work(): Promise<void> {
  const folder = copySources();
  try {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const verdict = await tryMutant(folder, mutant);
      const line = `${mutant.file}: ${mutant.what} (${mutant.promise})`;
      console.log(`${verdict.padEnd(8)} ${line}`);
      if (verdict !== 'killed') left.push(`${verdict} ${line}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copySources(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-mutants-'));
  // A test runs a command as another user, who must find it.
  chmodSync(folder, 0o755);
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' });
  for (const name of stdout.split('\0').filter((each) => each !== '' && existsSync(join(root, each)))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name), { verbatimSymlinks: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function tryMutant(folder: string, { file, find, replace, tests }: Mutant): Promise<Verdict> {
  const path = join(folder, file);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  // A defence that moved or reads differently now must be named anew.
  if (text.split(find).length !== 2) return 'stale';
  const key = tests.join(' ');
  const untouched = whole.get(key) ?? passes(folder, tests);
  whole.set(key, untouched);
  if (!(await untouched)) return 'broken';
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  try {
    return (await passes(folder, tests)) ? 'survived' : 'killed';
  } finally {
    writeFileSync(path, text);
  }
}

function passes(folder: string, tests: readonly string[]): Promise<boolean> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--bail', '1', '--reporter', 'dot', ...tests];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore', detached: true });
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), wallMs);
  return new Promise((resolve) => {
    child.on('exit', (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}
