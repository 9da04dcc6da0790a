import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Program } from '../../../src/engines/engine.ts';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

let cells: CellEngine;
beforeAll(async () => {
  cells = await startCellEngine();
});
afterAll(() => cells.close());

describe('createQuickJsEngine', () => {
  it('starts every call in a brand-new sandbox', async () => {
    const program = await cells.load(
      '(() => { let count = 0; return { handler: () => { globalThis.leak = (globalThis.leak ?? 0) + 1; return [++count, globalThis.leak]; } }; })()',
    );
    const outputs = [];
    for (let round = 0; round < 20; round++) outputs.push(outputOf(await cells.call(program)));
    expect(outputs).toEqual(Array.from({ length: 20 }, () => [1, 1]));
  });

  it('starts brand-new also where other plugins were loaded and called in the same thread since', async () => {
    const single = await startCellEngine({ min: 1, max: 1 });
    onTestFinished(() => single.close());
    const named = (name: string) =>
      single.load(
        `(() => { globalThis.leak = '${name}'; let count = 0; return { handler: () => '${name} ' + leak + ++count }; })()`,
      );
    const first = await named('first');
    const call = (program: Program) => single.call(program).then(outputOf);
    expect(await call(first)).toBe('first first1');
    const second = await named('second');
    expect(await call(first)).toBe('first first1');
    expect([await call(second), await call(first), await call(first), await call(second)]).toEqual([
      'second second1',
      'first first1',
      'first first1',
      'second second1',
    ]);
  });

  it.each([
    ['{ code: 42 }', 'An object that is no Error was thrown (code 42)'],
    ["{ message: 'no key', code: 'E_KEY' }", 'no key (code E_KEY)'],
    ['{}', 'An object that is no Error was thrown'],
    ["'plain'", 'plain'],
    ['null', 'null'],
  ])('says what a module throws that throws %s', async (thrown, message) => {
    await expect(cells.load(`(() => { throw ${thrown}; })()`)).rejects.toThrow(`load-failed: ${message}`);
  });

  it('draws new random numbers and reads a running clock in every call', async () => {
    const program = await cells.load('{ handler: () => [Math.random(), crypto.randomUUID(), Date.now(), new Date().getTime()] }');
    const results = await Promise.all(Array.from({ length: 10_000 }, () => cells.call(program)));
    const rows = results.map((result) => outputOf(result) as [number, string, number, number]);
    expect(new Set(rows.map((row) => row[0])).size).toBe(10_000);
    expect(new Set(rows.map((row) => row[1])).size).toBe(10_000);
    expect(rows.every((row) => Math.abs(row[2] - Date.now()) < 120_000 && row[3] >= row[2])).toBe(true);
    expect(new Set(rows.map((row) => row[2])).size).toBeGreaterThan(5);
  });

  it('keeps the state of a session cell for the next call of its key, and for no other', async () => {
    const program = await cells.load('(() => { let count = 0; return { handler: () => ++count }; })()');
    const call = (cellKey: string) => cells.call(program, { isolation: 'session', cellKey }).then(outputOf);
    expect([await call('a'), await call('a'), await call('b'), await call('a')]).toEqual([1, 2, 1, 3]);
  });

  it('tells each call in a kept cell of itself, and gives it chance of its own', async () => {
    const program = await cells.load(
      '{ tools: { first: { handler: (_, context) => [context.executionId, context.caller.id, Math.random()] }, ' +
        'second: { handler: () => "second" } } }',
    );
    const kept = { isolation: 'plugin', cellKey: 'shared', handler: 'first' } as const;
    const rows = [];
    for (const caller of ['ann', 'bob', 'bob']) rows.push(outputOf(await cells.call(program, { ...kept, caller })) as unknown[]);
    expect(rows.map((row) => row[1])).toEqual(['ann', 'bob', 'bob']);
    expect(new Set(rows.map((row) => row[0])).size).toBe(3);
    expect(new Set(rows.map((row) => row[2])).size).toBe(3);
    expect(outputOf(await cells.call(program, { ...kept, handler: 'second' }))).toBe('second');
  });

  it('moves session cells out of a worker and back without losing state', async () => {
    const program = await cells.load('(() => { let count = 0; return { handler: () => ++count }; })()');
    const keys = Array.from({ length: 40 }, (_, index) => `session-${index}`);
    for (let round = 1; round <= 3; round++) {
      const counts = await Promise.all(
        keys.map((cellKey) => cells.call(program, { isolation: 'session', cellKey }).then(outputOf)),
      );
      expect(counts).toEqual(keys.map(() => round));
    }
  });

  it('hands the JSON state of an older generation to the newer one', async () => {
    const counter = (step: number) =>
      `(() => { let count = 0; return { onReload: (state) => state === undefined ? { count } : void (count = state.count), handler: () => (count += ${step}) }; })()`;
    const options = { isolation: 'session', cellKey: 'handover', handOver: true } as const;
    const older = await cells.load(counter(1));
    expect(outputOf(await cells.call(older, options))).toBe(1);
    const newer = await cells.load(counter(10));
    expect(outputOf(await cells.call(newer, options))).toBe(11);
  });

  it('runs onStart once per cell, with capabilities', async () => {
    const program = await cells.load(
      '(() => { let seen = []; return { onStart: async (context) => { seen.push((await context.kv.get("a")).op); }, handler: () => seen }; })()',
    );
    const options = { isolation: 'session', cellKey: 'start' } as const;
    expect(outputOf(await cells.call(program, options))).toEqual(['kv.get']);
    expect(outputOf(await cells.call(program, options))).toEqual(['kv.get']);
  });

  it('gives thrown errors their class, message and place', async () => {
    const program = await cells.load('{\n  handler() {\n    throw new RangeError("out of luck");\n  } }');
    const outcome = await cells.call(program);
    expect(outcome).toMatchObject({
      status: 'error',
      error: {
        code: 'handler-threw',
        name: 'RangeError',
        message: 'out of luck',
        frames: [{ functionName: 'handler', file: 'plugin.js', line: 3 }],
      },
    });
  });

  it('refuses capabilities while a plugin loads', async () => {
    await expect(cells.load('{ onLoad: () => fetch("https://example.com"), handler() {} }')).rejects.toThrow(
      /not available while the plugin loads/,
    );
  });

  it('hands over config values at once and refuses the ones that are not granted', async () => {
    const program = await cells.load(
      '{ handler: (args, context) => [context.config.get("city"), context.config.get("missing") ?? null, context.config.get("other", 7)] }',
    );
    expect(outputOf(await cells.call(program, { config: { city: 'Bern' } }))).toEqual(['Bern', null, 7]);
  });

  it('knows no value by the name of what every object has', async () => {
    const program = await cells.load(
      '{ handler: (_args, context) => ["constructor", "toString", "__proto__"].flatMap((name) => [context.env.get(name) ?? null, context.config.get(name) ?? null]) }',
    );
    expect(outputOf(await cells.call(program, { config: { city: 'Bern' } }))).toEqual(Array(6).fill(null));
  });

  it('cancels a running, a waiting and a not yet started call', async () => {
    const program = await cells.load(
      '{ handler: async (args) => { if (args.spin) while (true); await new Promise((resolve) => setTimeout(resolve, 60000)); } }',
    );
    for (const args of [{ spin: true }, {}]) {
      const controller = new AbortController();
      const running = cells.call(program, { args, signal: controller.signal });
      await new Promise((resolve) => setTimeout(resolve, 60));
      controller.abort();
      expect((await running).status).toBe('cancelled');
    }
    expect((await cells.call(program, { signal: AbortSignal.abort() })).status).toBe('cancelled');
  });

  it('records what crossed the border', async () => {
    const program = await cells.load('{ handler: async (args, context) => { await context.kv.get("a"); return Date.now(); } }');
    const { recording } = await cells.call(program);
    expect(recording?.crossings.map((crossing) => crossing.op)).toEqual(['kv.get', 'clock']);
    expect(recording?.complete).toBe(true);
  });
});
