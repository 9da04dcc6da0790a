import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotas } from '../../../../src/config/quotas.ts';
import type { RunOutcome } from '../../../../src/engines/engine.ts';
import { type CallOptions, type CellEngine, outputOf, startCellEngine } from '../cell-engine.ts';

/** Beyond some 4400 turns the engine's own count of allocations used to run out. */
const isLong = process.env.HOTCELL_LONG !== undefined;
const calls = isLong ? 100_000 : 5000;
const hostCalls = isLong ? 20_000 : 5000;
/** What goes the same way as the one that is counted beyond that. */
const fewer = isLong ? 20_000 : 500;
/** Together they hand over more than the memory that a cell may take. */
const growing = isLong ? { calls: 120, memoryBytes: 8 * 1024 * 1024 } : { calls: 60, memoryBytes: 4 * 1024 * 1024 };

let cells: CellEngine;
beforeAll(async () => {
  cells = await startCellEngine({ min: 1, max: 2 });
});
afterAll(() => cells.close());

const stateOf = (outcome: RunOutcome) => (outcome.status === 'success' ? outcome.output : outcome.error.code);
const inSession = (cellKey: string, options: CallOptions = {}): CallOptions => ({ isolation: 'session', cellKey, ...options });

describe('kept cells', () => {
  it.each([
    [calls, 'session'],
    [isLong ? calls : fewer, 'plugin'],
  ] as const)(
    'count through %i calls of an async handler in the cell of a %s',
    async (times, isolation) => {
      const program = await cells.load('(() => { let count = 0; return { handler: async () => ++count }; })()');
      let last: unknown;
      for (let call = 0; call < times; call++) {
        last = stateOf(await cells.call(program, { isolation, cellKey: `counter-${isolation}` }));
        if (last !== call + 1) break;
      }
      expect(last).toBe(times);
    },
    isLong ? 600_000 : 120_000,
  );

  it.each([
    [hostCalls, 'values', 'context.kv.get("k")', false],
    [isLong ? hostCalls : fewer, 'refusals', 'context.kv.get("k").catch(() => {})', true],
    [fewer, 'timers', 'new Promise((resolve) => setTimeout(resolve, 0))', false],
  ] as const)(
    'awaits %i %s in one call',
    async (times, _what, question, isRefused) => {
      const program = await cells.load(
        `{ handler: async (args, context) => { let n = 0; for (; n < ${times}; n++) await ${question}; return n; } }`,
      );
      const answer = async () =>
        isRefused ? ({ ok: false, code: 'permission-denied', message: 'no' } as const) : ({ ok: true, payload: '{}' } as const);
      const limits = { hostCalls: 100_000, wallMs: 600_000 };
      expect(outputOf(await cells.call(program, { limits, answer }))).toBe(times);
    },
    isLong ? 600_000 : 120_000,
  );

  it.each([
    ['bytes handed to the host', 'for (let n = 0; n < 4; n++) new TextDecoder().decode(new Uint8Array(50_000));'],
    ['bytes from the host', 'for (let n = 0; n < 4; n++) new TextEncoder().encode("x".repeat(50_000));'],
    ['hashes', 'for (let n = 0; n < 4; n++) await crypto.subtle.digest("SHA-256", new Uint8Array(50_000));'],
    ['refused questions', 'for (let n = 0; n < 40; n++) try { new URL("::".repeat(1000)); } catch {}'],
    ['thrown text', 'Promise.reject("x".repeat(50_000)); throw "y".repeat(50_000);'],
  ])('do not grow by %s', async (what, work) => {
    const program = await cells.load(
      `(() => { let count = 0; return { handler: async (args) => { if (args.ask) return count; count++; ${work} } }; })()`,
    );
    const { calls: times, memoryBytes } = growing;
    for (let call = 0; call < times; call++) await cells.call(program, inSession(what, { limits: { memoryBytes } }));
    expect(outputOf(await cells.call(program, inSession(what, { args: { ask: true } })))).toBe(times);
  });

  it('keep a state of many megabytes', async () => {
    const program = await cells.load(
      '(() => { const held = []; return { handler: async () => { held.push(new Uint8Array(3_000_000).fill(7)); return held.length; } }; })()',
    );
    const other = await cells.load('{ handler: () => 1 }');
    const lengths: unknown[] = [];
    for (let call = 0; call < 6; call++) {
      lengths.push(outputOf(await cells.call(program, inSession('large'))));
      await cells.call(other);
    }
    expect(lengths).toEqual([1, 2, 3, 4, 5, 6]);
    expect(cells.warnings).toEqual([]);
  });

  it('are not dropped while a call waits in them, however many there are', async () => {
    const program = await cells.load('{ handler: async (args, context) => (await context.kv.get(args.n)).key }');
    const gate = Promise.withResolvers<void>();
    const answer = async ({ payload }: { payload: string }) => {
      await gate.promise;
      return { ok: true, payload } as const;
    };
    const waiting = Array.from({ length: 300 }, (_, n) =>
      cells.call(program, inSession(`wide-${n}`, { args: { n: String(n) }, answer })),
    );
    await cells.call(program, inSession('wide-last', { args: { n: 'last' } }));
    gate.resolve();
    expect((await Promise.all(waiting)).map(stateOf)).toEqual(Array.from({ length: 300 }, (_, n) => String(n)));
  });

  const counter = `(() => { let count = 0; const held = []; return { handler: async (args, context) => {
    count++;
    if (args.fill) for (;;) held.push(new Uint8Array(1_000_000).fill(1));
    if (args.spin) for (;;);
    if (args.stuck) return new Array(1e9) + '';
    if (args.wait) await new Promise((resolve) => setTimeout(resolve, 600_000));
    return count;
  } }; })()`;

  it.each([
    ['memory', { fill: true }, { memoryBytes: 16 * 1024 * 1024 }, 'memory'],
    ['time on the processor', { spin: true }, { cpuMs: 200 }, 'processor'],
    ['the end of its thread', { stuck: true }, { cpuMs: 200 }, 'thread'],
    ['the end of its time', { wait: true }, { wallMs: 1000 }, 'time-exceeded'],
  ])('that are lost by %s say so to the next call, once', async (what, args, limits, word) => {
    const program = await cells.load(counter);
    const said = () => cells.warnings.length;
    await cells.call(program, inSession(what));
    expect((await cells.call(program, inSession(what, { args, limits }))).status).not.toBe('success');
    const before = said();
    expect(outputOf(await cells.call(program, inSession(what)))).toBe(1);
    expect(cells.warnings.slice(before)).toEqual([expect.stringMatching(new RegExp(`state of this session was lost.*${word}`))]);
    expect(outputOf(await cells.call(program, inSession(what)))).toBe(2);
    expect(said()).toBe(before + 1);
    expect(cells.losses.filter(([key]) => key === program.key)).toHaveLength(1);
  });

  it('outlive a call that was cancelled before it began', async () => {
    const program = await cells.load(counter);
    await cells.call(program, inSession('queued'));
    const controller = new AbortController();
    const spinning = Array.from({ length: 4 }, () => cells.call(program, { args: { spin: true }, limits: { cpuMs: 100 } }));
    const queued = cells.call(program, inSession('queued', { signal: controller.signal }));
    controller.abort();
    expect((await queued).status).toBe('cancelled');
    await Promise.all(spinning);
    expect(outputOf(await cells.call(program, inSession('queued')))).toBe(2);
  });
});

describe('cells of sessions without end', () => {
  it('cost the caller who has most of them, and nobody else', async () => {
    const program = await cells.load('(() => { let count = 0; return { handler: () => ++count }; })()');
    const call = async (caller: string, session: string) =>
      outputOf(await cells.call(program, { caller, isolation: 'session', cellKey: `${caller} ${session}` }));
    expect(await call('bob', 'his')).toBe(1);
    const most = quotas['cells.sessions'].inAll;
    for (let n = 0; n < most + 20; n++) expect(await call('ann', `${n}`)).toBe(1);
    expect(await call('bob', 'his')).toBe(2);
    expect(await call('ann', `${most + 19}`)).toBe(2);
    expect(await call('ann', '0')).toBe(1);
  });
});
