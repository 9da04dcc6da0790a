import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { typicalPlugin } from '../daemon.ts';
import { type Row, summarise } from '../measure.ts';

const PLUGINS = 1000;
const STARTS = 5;
const bin = fileURLToPath(new URL('../../bin/hotcell.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hotcell-start-'));
const pluginDir = join(folder, 'plugins');
mkdirSync(pluginDir);
for (let n = 0; n < PLUGINS; n++) writeFileSync(join(pluginDir, `plugin-${n}.ts`), typicalPlugin(`plugin-${n}`, 'x'));

const cold = await start();
await stop(cold.child);
const samples: number[] = [];
let pssMb = 0;
for (let round = 0; round < STARTS; round++) {
  const warm = await start();
  samples.push(warm.readyMs);
  pssMb = Math.max(pssMb, readPssMb(warm.child.pid ?? 0));
  await stop(warm.child);
}
rmSync(folder, { recursive: true, force: true });
const { p50, p99 } = summarise(samples);
const rows: Row[] = [
  {
    name: `first start with ${PLUGINS} plugins, until ready`,
    unit: 'ms',
    p50: cold.readyMs,
    target: 'for the record',
    met: true,
  },
  {
    name: `warm start with ${PLUGINS} unchanged plugins, until ready`,
    unit: 'ms',
    p50,
    p99,
    target: '<= 1000 ms',
    met: p50 <= 1000,
  },
  { name: 'memory of the process tree then (PSS)', unit: 'MB', p50: pssMb, target: '<= 350 MB', met: pssMb <= 350 },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);

/** Starts the daemon as a user does and waits until /readyz says yes. */
async function start(): Promise<{ child: ChildProcess; readyMs: number }> {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const began = performance.now();
  const args = [bin, 'start', '--plugins', pluginDir, '--data', join(folder, 'data'), '--port', String(port), '--json'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' });
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) break;
    if (performance.now() - began > 120_000) throw new Error('the daemon did not become ready');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return { child, readyMs: performance.now() - began };
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** Proportional set size of a process and all its descendants. */
function readPssMb(root: number): number {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // The process ended while we looked.
    }
  }
  const isInTree = (pid: number): boolean => pid === root || (parents.has(pid) && pid !== 0 && isInTree(parents.get(pid) ?? 0));
  let total = 0;
  for (const pid of parents.keys()) {
    if (!isInTree(pid)) continue;
    try {
      total += Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
    } catch {
      // The process ended while we looked.
    }
  }
  return total;
}
