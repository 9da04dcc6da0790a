import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

/** Ending a thread takes as long as on a machine that has much to do. */
const SLOW_END_MS = 200;
const terminate = Worker.prototype.terminate;

let cells: CellEngine;
let ended: number;
beforeAll(async () => {
  cells = await startCellEngine({ min: 2, max: 3 });
});
afterAll(() => cells.close());
beforeEach(() => {
  ended = 0;
  Worker.prototype.terminate = function endSlowly(this: Worker) {
    ended++;
    return new Promise((resolve) => setTimeout(() => resolve(terminate.call(this)), SLOW_END_MS));
  };
});
afterEach(() => {
  Worker.prototype.terminate = terminate;
});

/** Does not look at the clock for so many steps; `fill` of a long array is one native operation. */
const PLUGIN = `{ handler: (args, context) => {
  const until = Date.now() + (args.deafMs ?? 0);
  const block = args.deafMs ? new Array(3_000_000) : [];
  while (Date.now() < until) block.fill(1);
  return args.n;
} }`;

describe('a thread that is being ended', () => {
  it('gets no new call, and what it had not begun is run elsewhere', async () => {
    const program = await cells.load(PLUGIN);
    const stuck = await cells.load("{ handler: () => new Array(1e9) + '' }");
    for (let n = 0; n < 30; n++) await cells.call(program, { args: { n } });
    const before = cells.killed.length;
    const outcomes: Array<Promise<unknown>> = [];
    let isOver = false;
    const killers = Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const outcome = await cells.call(stuck, { limits: { cpuMs: 20 + n } });
        expect(outcome.status).toBe('timeout');
      }),
    ).then(() => {
      isOver = true;
    });
    for (let n = 0; !isOver; n++) {
      const calls = Array.from({ length: 20 }, () => cells.call(program, { args: { n } }));
      outcomes.push(...calls.map(async (call) => [n, outputOf(await call)]));
      await Promise.race([Promise.all(calls), killers]);
    }
    await killers;
    for (const pair of await Promise.all(outcomes)) expect(pair).toEqual([expect.any(Number), expect.any(Number)]);
    expect(ended).toBeGreaterThanOrEqual(6);
    expect(new Set(cells.killed.slice(before))).toEqual(new Set([stuck.key]));
  });

  it('does not count against a plugin whose call was cancelled while it did not look at the clock', async () => {
    const program = await cells.load("{ handler: () => new Array(1e9) + '' }");
    const controller = new AbortController();
    const call = cells.call(program, { signal: controller.signal });
    await expect.poll(() => cells.call(program, { signal: AbortSignal.abort() }).then(({ status }) => status)).toBe('cancelled');
    controller.abort();
    expect((await call).status).toBe('cancelled');
    expect(cells.killed).not.toContain(program.key);
  });

  it('lets the next call of a session begin anew, with a warning', async () => {
    const program = await cells.load(
      "(() => { let count = 0; return { handler: (args) => { count++; if (args.stuck) return new Array(1e9) + ''; return count; } }; })()",
    );
    const session = { isolation: 'session', cellKey: 'ended' } as const;
    expect(outputOf(await cells.call(program, session))).toBe(1);
    const stuck = cells.call(program, { ...session, args: { stuck: true }, limits: { cpuMs: 50 } });
    expect((await stuck).status).toBe('timeout');
    expect(outputOf(await cells.call(program, session))).toBe(1);
    expect(outputOf(await cells.call(program, session))).toBe(2);
    expect(cells.warnings).toHaveLength(1);
  });
});
