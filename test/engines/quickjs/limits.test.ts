import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

let cells: CellEngine;
beforeAll(async () => {
  cells = await startCellEngine();
});
afterAll(() => cells.close());

const LIMITS = { cpuMs: 300, wallMs: 2000 };

/** Attack, then the status and the codes that may end it. */
const attacks: ReadonlyArray<readonly [name: string, body: string, status: string, codes: readonly string[]]> = [
  ['an endless loop', 'while (true) {}', 'timeout', ['time-exceeded']],
  ['a loop that catches everything', 'while (true) { try { null.x } catch {} }', 'timeout', ['time-exceeded']],
  ['a huge sparse array as text', "return new Array(1e9) + ''", 'timeout', ['time-exceeded']],
  [
    'indexOf on a sparse array',
    'const a = []; a.length = 4294967295; return a.lastIndexOf(1) + a.indexOf(1)',
    'timeout',
    ['time-exceeded'],
  ],
  [
    'sort on a sparse array',
    'const a = []; a.length = 4294967295; a[0] = 1; return a.sort().length',
    'timeout',
    ['time-exceeded', 'memory-exceeded'],
  ],
  [
    'a JSON bomb of shared references',
    'let x = ["x"]; for (let i = 0; i < 60; i++) x = [x, x]; return x',
    'either',
    ['time-exceeded', 'memory-exceeded', 'output-exceeded', 'handler-threw'],
  ],
  [
    'unbounded allocation',
    'const a = []; while (true) a.push(new Array(1000).fill(7))',
    'either',
    ['memory-exceeded', 'time-exceeded'],
  ],
  ['one large buffer', 'return new ArrayBuffer(1e9).byteLength', 'error', ['memory-exceeded', 'handler-threw']],
  ['a string that doubles', 'let s = "x"; while (true) s += s', 'either', ['memory-exceeded', 'time-exceeded', 'handler-threw']],
  ['deep recursion', 'const f = () => f() + 1; return f()', 'error', ['stack-exceeded']],
  ['deep JSON', 'return JSON.parse("[".repeat(1e5))', 'error', ['stack-exceeded', 'handler-threw']],
  ['endless microtasks', 'const f = () => Promise.resolve().then(f); return f()', 'either', ['time-exceeded', 'memory-exceeded']],
  ['a catastrophic regular expression', 'return /(a+)+$/.test("a".repeat(40) + "!")', 'timeout', ['time-exceeded']],
  ['a promise that never settles', 'return new Promise(() => {})', 'timeout', ['handler-never-settles']],
  ['a getter that throws', 'return { get x() { throw new Error("no") } }', 'error', ['handler-threw']],
  ['cyclic output', 'const o = {}; o.o = o; return o', 'error', ['output-invalid']],
  ['output of many megabytes', 'return "x".repeat(20e6)', 'either', ['output-exceeded', 'memory-exceeded', 'time-exceeded']],
  [
    'output beyond all memory',
    'return Array(500).fill("x".repeat(1e6)).join("")',
    'error',
    ['memory-exceeded', 'output-exceeded', 'handler-threw'],
  ],
  ['a thenable that never answers', 'return { then() {} }', 'timeout', ['handler-never-settles']],
  ['a big power', 'return String(3n ** 20000000n).length', 'either', ['time-exceeded', 'memory-exceeded', 'handler-threw']],
  ['an endless generator', 'function* g() { while (true) yield 1 } for (const x of g()); ', 'timeout', ['time-exceeded']],
  [
    'timers without end',
    'const f = () => setTimeout(f, 0); f(); return new Promise(() => {})',
    'either',
    ['time-exceeded', 'host-calls-exceeded', 'handler-never-settles'],
  ],
  [
    'too many host calls',
    'const all = []; for (let i = 0; i < 5000; i++) all.push(context.kv.get("k")); return Promise.all(all)',
    'either',
    ['pending-host-calls-exceeded', 'host-calls-exceeded', 'time-exceeded'],
  ],
  ['an async loop of host calls', 'for (;;) await context.kv.get("k")', 'either', ['host-calls-exceeded', 'time-exceeded']],
];

describe('limits', () => {
  it.each(attacks)('ends %s and leaves the next call unharmed', async (_name, body, status, codes) => {
    const program = await cells.load(`{ handler: async (args, context) => { ${body} } }`);
    const sane = await cells.load('{ handler: (args) => args.n + 1 }');
    const outcome = await cells.call(program, { limits: LIMITS });
    if (status !== 'either') expect(outcome.status).toBe(status);
    expect(outcome.status).not.toBe('success');
    if (outcome.status !== 'success') expect(codes).toContain(outcome.error.code);
    for (let n = 0; n < 5; n++) expect(outputOf(await cells.call(sane, { args: { n } }))).toBe(n + 1);
  });

  it('bounds the log in bytes and lines and says that it did', async () => {
    const program = await cells.load(
      '{ handler: () => { for (let i = 0; i < 1e4; i++) console.log("x".repeat(1000)); return "done" } }',
    );
    cells.logs.length = 0;
    const outcome = await cells.call(program, { limits: { logBytes: 10_000, logLines: 50 } });
    expect(outcome.status).toBe('success');
    expect(cells.logs.length).toBeLessThanOrEqual(51);
    expect(cells.logs.reduce((bytes, line) => bytes + line.text.length, 0)).toBeLessThan(11_000);
    expect(cells.logs.at(-1)?.text).toMatch(/log of this call is full/);
  });

  it.each([
    ['lines', { logLines: 50 }],
    ['bytes', { logBytes: 50 }],
  ])('counts the log and progress of a call that waits in between over all its slices: by %s', async (_by, limits) => {
    const program = await cells.load(`{ handler: async (args, { progress }) => {
      for (let slice = 0; slice < 20; slice++) {
        for (let told = 0; told < 60; told++) { console.log("x"); progress(told, 60); }
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      return "done" } }`);
    cells.logs.length = 0;
    cells.progress.length = 0;
    const outcome = await cells.call(program, { limits });
    expect(outputOf(outcome)).toBe('done');
    expect(cells.logs.map(({ text }) => text).filter((text) => text !== 'x')).toEqual([expect.stringMatching(/is full/)]);
    expect(cells.logs).toHaveLength(51);
    expect(cells.progress).toHaveLength('logLines' in limits ? 50 : 1000);
  });

  it('holds the memory limit also where many small things add up', async () => {
    const program = await cells.load(
      '{ handler: (args) => Array.from({ length: args.n }, () => new Array(1000).fill(7)).length }',
    );
    const memoryBytes = 24 * 1024 * 1024;
    expect(outputOf(await cells.call(program, { args: { n: 1500 }, limits: { memoryBytes } }))).toBe(1500);
    const outcome = await cells.call(program, { args: { n: 5000 }, limits: { memoryBytes } });
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'memory-exceeded' } });
  });

  it('counts all timers as one host call that waits, beside as many others as may', async () => {
    const program = await cells.load(`{ handler: async (args, context) => {
      const others = Array.from({ length: 64 }, () => context.kv.get("k"));
      const waits = Array.from({ length: 2000 }, (_, n) => new Promise((resolve) => setTimeout(resolve, n % 7, 1)));
      await Promise.all(others);
      return (await Promise.all(waits)).length } }`);
    const answer: NonNullable<CallOptions['answer']> = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return { ok: true, payload: '1' };
    };
    expect(outputOf(await cells.call(program, { answer }))).toBe(2000);
  });

  it('says which limit a timer met, where it was set', async () => {
    const program = await cells.load('{ handler: async () => { for (;;) await new Promise((resolve) => setTimeout(resolve)) } }');
    const outcome = await cells.call(program, { limits: { hostCalls: 20 } });
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'host-calls-exceeded' } });
  });

  it('bounds what waiting host calls hold', async () => {
    const program = await cells.load(
      '{ handler: (args, context) => { const big = "x".repeat(5e6); return Promise.all([1, 2, 3, 4, 5].map(() => context.kv.set("k", big))) } }',
    );
    const outcome = await cells.call(program);
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'pending-host-calls-exceeded' } });
  });

  it('names plugins whose code had to be ended with its thread', async () => {
    const program = await cells.load("{ handler: () => new Array(1e9) + '' }");
    cells.killed.length = 0;
    await cells.call(program, { limits: LIMITS });
    expect(cells.killed).toEqual([program.key]);
  });

  it('ends a load that never ends', async () => {
    const code = 'while (true) {}';
    const result = await cells.engine.load({
      key: 'forever',
      label: 'forever',
      code,
      limits: { ...(await import('../../../src/config/limits.ts')).defaultLimits, cpuMs: 200 },
    });
    expect(result).toMatchObject({ ok: false, error: { code: 'time-exceeded' } });
  });
});
