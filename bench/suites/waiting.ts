import { readFileSync } from 'node:fs';
import { startBenchDaemon } from '../daemon.ts';
import { type Row, timeRounds } from '../measure.ts';

const CALLS = 5000;
const WAIT_MS = 1500;
const caller = { id: 'local', role: 'admin' } as const;
const waiter = `export default { name: 'waiter', handler: async (args: { n: number }) => {
  await new Promise((resolve) => setTimeout(resolve, ${WAIT_MS}));
  return args.n;
} };`;
const quick = `export default { name: 'quick', handler: (args: { n: number }) => args.n + 1 };`;

const bench = await startBenchDaemon({ 'waiter.ts': waiter, 'quick.ts': quick });
const call = (ref: string, n: number) => bench.daemon.parts.caller.call({ ref, arguments: { n }, caller });
await call('quick', 1);
const start = performance.now();
const waiting = Promise.all(Array.from({ length: CALLS }, (_, n) => call('waiter', n)));
await new Promise((resolve) => setTimeout(resolve, 1000));
const residentMb = readResidentMb();
const neighbour = await timeRounds(20, (n) => call('quick', n));
const answers = await waiting;
const tookMs = performance.now() - start;
const complete = answers.filter((answer, n) => answer.status === 'success' && answer.output === n).length;
const peakMb = Math.max(residentMb, readResidentMb());
await bench.close();

const worstMs = Math.max(...neighbour);
const rows: Row[] = [
  {
    name: `${CALLS} calls that wait for the host at once: resident memory`,
    unit: 'MB',
    p50: peakMb,
    target: `<= 600 MB, ${complete} of ${CALLS} right`,
    met: peakMb <= 600 && complete === CALLS,
  },
  {
    name: `${CALLS} calls that each wait ${WAIT_MS} ms: until the last answer`,
    unit: 'ms',
    p50: tookMs,
    target: 'all complete',
    met: complete === CALLS,
  },
  {
    name: 'a quick call meanwhile (worst of 20): no worker is blocked',
    unit: 'ms',
    p50: worstMs,
    target: '<= 100 ms',
    met: worstMs <= 100,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);

function readResidentMb(): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(line?.[1] ?? 0) / 1024;
}
