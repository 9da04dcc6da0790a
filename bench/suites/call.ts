import { startBenchDaemon, typicalPlugin } from '../daemon.ts';
import { type Row, summarise, timeRounds } from '../measure.ts';

/** What is used of the peer; its package is installed for the benchmarks alone, so its types are not at hand. */
interface Peer {
  run(request: { source: string; hostFunctions: object }): Promise<{ status: string }>;
}
const { run } = (await import(new URL('../node_modules/run/dist/index.js', import.meta.url).href)) as Peer;

const TEXT = 'The quick brown fox jumps over the lazy dog and the dog does not mind the fox';
const args = { text: TEXT, limit: 5 };
const caller = { id: 'local', role: 'admin' } as const;

const bench = await startBenchDaemon({ 'words.ts': typicalPlugin('words', 'first') });
const call = async () => {
  const answer = await bench.daemon.parts.caller.call({ ref: 'words', arguments: args, caller });
  if (answer.status !== 'success') throw new Error(answer.error?.message ?? answer.status);
};
await timeRounds(3000, call);
const ours = summarise(await timeRounds(10_000, call));

// The same handler as a script for the peer: a fresh context in a worker, as it offers it.
const source = `
  const args = ${JSON.stringify(args)};
  const counts = new Map();
  for (const word of args.text.toLowerCase().split(/\\W+/)) if (word) counts.set(word, (counts.get(word) ?? 0) + 1);
  const rows = [...counts].map(([word, count]) => ({ word, count, kind: 'kind-' + word.length }));
  rows.sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1));
  return { answer: 'first', words: rows.slice(0, args.limit) };
`;
const peerCall = async () => {
  const result = await run({ source, hostFunctions: {} });
  if (result.status !== 'completed') throw new Error(result.status);
};
await timeRounds(20, peerCall);
const peer = summarise(await timeRounds(200, peerCall));
await bench.close();

const ratio = peer.p50 / ours.p50;
const rows: Row[] = [
  {
    name: 'call in a brand-new sandbox, record and validation included',
    unit: 'ms',
    ...ours,
    target: 'p50 <= 0.2 ms',
    met: ours.p50 <= 0.2,
  },
  {
    name: 'the same handler in npm package run',
    unit: 'ms',
    ...peer,
    peer: { name: 'hotcell', p50: ours.p50 },
    ratio,
    ratioOf: 'times faster:',
    target: '>= 40',
    met: ratio >= 40,
  },
];
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit(0);
