import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

const terminate = Worker.prototype.terminate;
let cells: CellEngine;
afterEach(async () => {
  Worker.prototype.terminate = terminate;
  await cells.close();
});

/** One native operation of WebAssembly, long beyond the time of the calls here. */
const PLUGIN = "{ handler: () => new Array(1e8) + '' }";

/** Ends threads as late as the test says, as a native answer does that takes longer than a test may. */
function endWhen(gate: Promise<unknown>): { readonly told: () => number; readonly gone: () => number } {
  let [told, gone] = [0, 0];
  Worker.prototype.terminate = function endLate(this: Worker) {
    told++;
    return gate.then(() => terminate.call(this)).finally(() => gone++);
  };
  return { told: () => told, gone: () => gone };
}

describe('a thread that native code does not let go', () => {
  it('is replaced: the calls in it have their end and no other caller waits for it', async () => {
    cells = await startCellEngine({ min: 1, max: 1 });
    const gate = Promise.withResolvers<void>();
    const ends = endWhen(gate.promise);
    const stuck = await cells.load(PLUGIN);
    const quick = await cells.load('{ handler: (args) => args.n }');
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, (_, n) => cells.call(stuck, { caller: `caller ${n}`, limits: { cpuMs: 20 } })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('timeout'));
    for (let n = 0; n < 20; n++) expect(outputOf(await cells.call(quick, { caller: 'bob', args: { n } }))).toBe(n);
    expect([ends.told(), ends.gone()]).toEqual([4, 0]);
    gate.resolve();
    await expect.poll(ends.gone, { timeout: 60_000 }).toBe(4);
    expect(outputOf(await cells.call(quick, { caller: 'bob', args: { n: 1 } }))).toBe(1);
  }, 120_000);

  it('is replaced a bounded number of times, and again when one of them is gone', async () => {
    cells = await startCellEngine({ min: 1, max: 1 });
    const gate = Promise.withResolvers<void>();
    const ends = endWhen(gate.promise);
    const stuck = await cells.load(PLUGIN);
    const quick = await cells.load('{ handler: (args) => args.n }');
    const calls = Array.from({ length: 16 }, (_, n) => cells.call(stuck, { caller: `caller ${n}`, limits: { cpuMs: 20 } }));
    let ended = 0;
    for (const call of calls) void call.finally(() => ended++);
    // Eight that are replaced, and the one that the engine may have.
    await expect.poll(ends.told, { timeout: 60_000 }).toBe(9);
    await expect.poll(() => ended, { timeout: 60_000 }).toBe(8);
    // The one beyond it is for others.
    for (let n = 0; n < 20; n++) expect(outputOf(await cells.call(quick, { caller: 'bob', args: { n } }))).toBe(n);
    expect([ends.told(), ends.gone(), ended]).toEqual([9, 0, 8]);
    gate.resolve();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(16).fill('timeout'));
  }, 240_000);
});
