import { readFileSync } from 'node:fs';
import { startBenchDaemon } from '../daemon.ts';
import type { Row } from '../measure.ts';

// What one caller holds and wakes, and what another caller notices of it.
const HOLDERS = 40;
const HELD_MB = 80;
const WAKERS = 60;
const heavy = { id: 'key_heavy', role: 'caller' } as const;
const other = { id: 'key_other', role: 'caller' } as const;
const holder = `export default { limits: { memoryBytes: ${96 * 2 ** 20} }, handler: async () => {
  const held = [];
  for (let mb = 0; mb < ${HELD_MB}; mb++) held.push(new Uint8Array(2 ** 20).fill(mb + 1));
  await new Promise((resolve) => setTimeout(resolve, 6000));
  return held.every((part, mb) => part[5] === mb + 1);
} };`;
const waker = `export default { handler: async () => {
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const end = Date.now() + 1000;
  while (Date.now() < end);
  return true;
} };`;
const quick = `export default { handler: (args: { n: number }) => args.n + 1 };`;

const bench = await startBenchDaemon({ 'holder.ts': holder, 'waker.ts': waker, 'quick.ts': quick }, { grantRequested: true });
const call = (ref: string, caller: typeof heavy | typeof other, args = {}) =>
  bench.daemon.parts.caller.call({ ref, arguments: args, caller, timeoutMs: 120_000 });
await call('quick', other, { n: 0 });
globalThis.gc?.();
const beforeMb = readResidentMb();

const holding = Promise.all(Array.from({ length: HOLDERS }, () => call('holder', heavy)));
const whileHolding = await askUntil(holding);
const right = (await holding).filter(({ status, output }) => status === 'success' && output === true).length;
const endedAt = performance.now();
while (readResidentMb() > beforeMb + 200 && performance.now() < endedAt + 20_000) await pause(50);
const givenBackMs = performance.now() - endedAt;

const waking = Promise.all(Array.from({ length: WAKERS }, () => call('waker', heavy)));
const whileWaking = await askUntil(waking);
await bench.close();

const rows: Row[] = [
  {
    name: `${HOLDERS} calls of one caller that hold ${HELD_MB} MB and wait: more resident`,
    unit: 'MB',
    p50: whileHolding.peakMb - beforeMb,
    target: `<= 1024 MB, ${right} of ${HOLDERS} right`,
    met: whileHolding.peakMb - beforeMb <= 1024 && right === HOLDERS,
  },
  { name: 'until that was given back', unit: 'ms', p50: givenBackMs, target: '<= 5000 ms', met: givenBackMs <= 5000 },
  {
    name: 'a call of another caller meanwhile (the slowest)',
    unit: 'ms',
    p50: whileHolding.worstMs,
    target: '<= 3000 ms',
    met: whileHolding.worstMs <= 3000,
  },
  {
    name: `a call of another caller beside ${WAKERS} that wake and burn 1 s each (the slowest)`,
    unit: 'ms',
    p50: whileWaking.worstMs,
    target: '<= 3000 ms',
    met: whileWaking.worstMs <= 3000,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

/** Calls as the other caller, one call after the other, until the work is over. */
async function askUntil(work: Promise<unknown>): Promise<{ worstMs: number; peakMb: number }> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  let worstMs = 0;
  let peakMb = 0;
  for (let n = 0; !isOver; n++) {
    const startedAt = performance.now();
    await call('quick', other, { n });
    worstMs = Math.max(worstMs, performance.now() - startedAt);
    peakMb = Math.max(peakMb, readResidentMb());
    await pause(50);
  }
  return { worstMs, peakMb };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function readResidentMb(): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(line?.[1] ?? 0) / 1024;
}
