import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

let cells: CellEngine;
beforeAll(async () => {
  cells = await startCellEngine();
});
afterAll(() => cells.close());

const WAITING =
  '{ handler: async (args, context) => { const seen = []; for (let hop = 0; hop < 3; hop++) seen.push((await context.kv.get(args.n + ":" + hop)).key); return seen; } }';

describe('parking', () => {
  it('carries thousands of waiting calls on a few workers, none of them mixed up', async () => {
    const program = await cells.load(WAITING);
    const answer = async (request: { payload: string }) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      return { ok: true, payload: request.payload } as const;
    };
    const calls = Array.from({ length: 2000 }, (_, n) => cells.call(program, { args: { n }, answer }));
    const outputs = (await Promise.all(calls)).map(outputOf);
    expect(outputs).toEqual(Array.from({ length: 2000 }, (_, n) => [`${n}:0`, `${n}:1`, `${n}:2`]));
  });

  it('loses only the slice that ran when a thread is ended', async () => {
    const program = await cells.load(WAITING);
    const killer = await cells.load("{ handler: () => new Array(1e9) + '' }");
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answer = async (request: { payload: string }) => {
      await gate;
      return { ok: true, payload: request.payload } as const;
    };
    const waiting = Array.from({ length: 50 }, (_, n) => cells.call(program, { args: { n }, answer }));
    const killed = await Promise.all(Array.from({ length: 6 }, () => cells.call(killer, { limits: { cpuMs: 50 } })));
    expect(killed.map((outcome) => outcome.status)).toEqual(Array.from({ length: 6 }, () => 'timeout'));
    release();
    const outcomes = await Promise.all(waiting);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(Array.from({ length: 50 }, () => 'success'));
  });

  it('gives back the calls that travelled behind one that does not stop', async () => {
    const program = await cells.load("{ handler: (args) => { if (args.stuck) return new Array(1e9) + ''; return args.n; } }");
    for (let n = 0; n < 50; n++) await cells.call(program, { args: { n } });
    const calls = Array.from({ length: 60 }, (_, n) =>
      cells.call(program, { args: { n, stuck: n % 20 === 3 }, limits: { cpuMs: 100 } }),
    );
    const outcomes = await Promise.all(calls);
    expect(outcomes.map((outcome) => (outcome.status === 'success' ? outcome.output : outcome.status))).toEqual(
      Array.from({ length: 60 }, (_, n) => (n % 20 === 3 ? 'timeout' : n)),
    );
  });

  it('cancels a call that travelled with others and has not begun', async () => {
    const program = await cells.load(
      '{ handler: (args) => { const until = Date.now() + (args.ms ?? 0); while (Date.now() < until); return 1; } }',
    );
    for (let n = 0; n < 50; n++) await cells.call(program);
    const controller = new AbortController();
    const calls = Array.from({ length: 40 }, (_, n) =>
      cells.call(program, { args: { ms: n < 8 ? 150 : 0 }, ...(n >= 30 ? { signal: controller.signal } : {}) }),
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    controller.abort();
    const statuses = (await Promise.all(calls)).map((outcome) => outcome.status);
    expect(statuses.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 'success'));
    expect(statuses.slice(30).every((status) => status === 'cancelled' || status === 'success')).toBe(true);
  });
});
