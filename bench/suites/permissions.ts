import { decideGrants } from '../../src/permissions/decision.ts';
import { matchersOf } from '../../src/permissions/matchers.ts';
import { startBenchDaemon, typicalPlugin } from '../daemon.ts';
import { type Row, summarise, timeRounds } from '../measure.ts';

/** Everything that can be granted; the plugin uses none of it. */
const everything = {
  net: ['api.example.com', '*.example.org', '127.0.0.1:8080'],
  read: ['.'],
  write: ['out'],
  env: ['BENCH_A', 'BENCH_B'],
  run: ['jq'],
  tools: ['*'],
  llm: 20_000,
  kv: { quotaBytes: 65_536, shared: true },
} as const;
const args = { text: 'The quick brown fox jumps over the lazy dog and the dog does not mind the fox', limit: 5 };
const caller = { id: 'local', role: 'admin' } as const;
const rounds = 40;
const callsARound = 250;

const asking = typicalPlugin('granted', 'first').replace(
  "version: '1.0.0',",
  `version: '1.0.0', permissions: ${JSON.stringify(everything)},`,
);
const bench = await startBenchDaemon({ 'granted.ts': asking, 'bare.ts': typicalPlugin('bare', 'first') });
const { plugins, grants } = bench.daemon.parts;
const generation = plugins.asking('granted');
if (generation === undefined) throw new Error('the plugin that asks for everything was not built');
grants.create({ asking: generation, permissions: everything, scope: { scope: 'always' }, grantedBy: 'local' });
await bench.daemon.parts.units.refreshGrants();

const call = (ref: string) => async () => {
  const answer = await bench.daemon.parts.caller.call({ ref, arguments: args, caller });
  if (answer.status !== 'success') throw new Error(answer.error?.message ?? answer.status);
};
await timeRounds(3000, call('bare'));
await timeRounds(3000, call('granted'));
// In turns, so that whatever else the machine does meets both.
const granted: number[] = [];
const bare: number[] = [];
for (let round = 0; round < rounds; round++) {
  bare.push(...(await timeRounds(callsARound, call('bare'))));
  granted.push(...(await timeRounds(callsARound, call('granted'))));
}
const ours = summarise(granted);
const peer = summarise(bare);
const ratio = ours.p50 / peer.p50;

const use = { executionId: 'exe_bench', caller: 'local', session: 'default' };
const decisions = 50_000;
let allowed = 0;
const decide = async () => {
  const start = performance.now();
  for (let n = 0; n < decisions; n++) {
    const decision = grants.decide(generation, use);
    if (matchersOf(decision.granted).allowsHost(n % 2 === 0 ? 'a.b.example.org' : 'evil.example.net', 443)) allowed++;
  }
  return ((performance.now() - start) * 1000) / decisions;
};
const micros: number[] = [];
for (let round = 0; round < 20; round++) micros.push(await decide());
if (allowed !== decisions * 10) throw new Error(`every other decision allows, but ${allowed} did`);
const one = summarise(micros.slice(2));
const pureStart = performance.now();
for (let n = 0; n < decisions; n++) decideGrants(generation.manifest.permissions, { grantRequested: true });
const pure = ((performance.now() - pureStart) * 1000) / decisions;
await bench.close();

const rows: Row[] = [
  {
    name: 'call with every capability granted and unused',
    unit: 'ms',
    ...ours,
    peer: { name: 'with none granted', p50: peer.p50 },
    ratio,
    ratioOf: 'times as long:',
    target: '<= 1.10',
    met: ratio <= 1.1,
  },
  {
    name: 'one permission decision: grants in force, then the match',
    unit: 'µs',
    ...one,
    peer: { name: 'of presets alone', p50: pure },
    target: 'p50 <= 2 µs',
    met: one.p50 <= 2,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
