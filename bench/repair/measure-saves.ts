import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBenchDaemon, typicalPlugin } from '../daemon.ts';
import { type Row, summarise } from '../measure.ts';

const saves = 15;
const maxMs = 300;
const maxRatio = 3;
const caller = { id: 'local', role: 'admin' } as const;

/** Broken saves in a whole daemon: how long until what a sure fixer made of them serves, and what a neighbour's reload has of it. */
export async function measureSaves(): Promise<Row[]> {
  const bench = await startBenchDaemon({ 'words.ts': typicalPlugin('words', '0'), 'beside.ts': typicalPlugin('beside', '0') });
  const { caller: calls, events } = bench.daemon.parts;
  let edition = 0;

  async function reload(): Promise<number> {
    const answer = `${++edition}`;
    const start = performance.now();
    writeFileSync(join(bench.pluginDir, 'beside.ts'), typicalPlugin('beside', answer));
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const { output } = await calls.call({ ref: 'beside', arguments: { text: 'a b' }, caller });
      if (typeof output === 'object' && output !== null && 'answer' in output && output.answer === answer) break;
      if (performance.now() - start > 20_000) throw new Error('the neighbour was not reloaded');
    }
    return performance.now() - start;
  }

  /** Saves a text without its last brace; from the event of the failure to the generation that serves. */
  async function repair(): Promise<number> {
    const text = typicalPlugin('words', `${++edition}`);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    let failedAt: number | undefined;
    const stop = events.subscribe({ types: ['plugin-diagnostic', 'repair-end'] }, ({ type, data }) => {
      if (type === 'plugin-diagnostic') failedAt ??= performance.now();
      else if ('state' in data && data.state === 'published' && failedAt !== undefined) resolve(performance.now() - failedAt);
      // The save itself ends the repair of the one before.
      else if (!('state' in data) || data.state !== 'superseded') reject(new Error(`a repair ended as ${JSON.stringify(data)}`));
    });
    writeFileSync(join(bench.pluginDir, 'words.ts'), text.replace(/\}(;?\s*)$/, '$1'));
    return promise.finally(stop);
  }

  try {
    await repair();
    const alone: number[] = [];
    const beside: number[] = [];
    const repaired: number[] = [];
    for (let round = 0; round < saves; round++) {
      alone.push(await reload());
      const [ms, besideMs] = await Promise.all([repair(), reload()]);
      repaired.push(ms);
      beside.push(besideMs);
    }
    const [live, idle, busy] = [summarise(repaired), summarise(alone), summarise(beside)];
    const ratio = busy.p50 / idle.p50;
    return [
      {
        name: `from the failure of a broken save until what a fixer made of it serves, ${saves} saves`,
        unit: 'ms',
        ...live,
        target: `p50 <= ${maxMs} ms`,
        met: live.p50 <= maxMs,
      },
      {
        name: 'a neighbour is saved meanwhile, until a call returns the new result',
        unit: 'ms',
        ...busy,
        peer: { name: 'without a repair', p50: idle.p50 },
        ratio,
        ratioOf: 'ratio',
        target: `<= ${maxRatio}`,
        met: ratio <= maxRatio,
      },
    ];
  } finally {
    await bench.close();
  }
}
