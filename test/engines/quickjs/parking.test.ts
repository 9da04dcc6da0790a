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
});
