import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogLine } from '../../src/border/border.ts';
import type { RunOutcome } from '../../src/engines/engine.ts';
import { createDenoRig, type DenoRig } from './process/deno/deno-rig.ts';
import { type CellEngine, startCellEngine } from './quickjs/cell-engine.ts';

let cells: CellEngine;
let deno: DenoRig;
beforeAll(async () => {
  cells = await startCellEngine();
  deno = createDenoRig();
});
afterAll(async () => {
  await cells.close();
  await deno.close();
});

type Came = { readonly outcome: RunOutcome; readonly lines: readonly LogLine[] };
const engines: Record<string, (plugin: string) => Promise<Came>> = {
  async quickjs(plugin) {
    const before = cells.logs.length;
    const outcome = await cells.call(await cells.load(plugin));
    return { outcome, lines: cells.logs.slice(before) };
  },
  async deno(plugin) {
    const tried = await deno.run(plugin);
    return { outcome: tried, lines: tried.logs };
  },
};

const failing = 'async function fails() { await null; throw new RangeError("too far"); }';
const pause = 'await new Promise((resolve) => setTimeout(resolve, 1));';

describe.each(Object.keys(engines))('errors that nobody handles on %s', (name) => {
  const warningsOf = async (body: string): Promise<string[]> => {
    const came = await engines[name]?.(`{ handler: async () => { ${failing} ${body} } }`);
    expect(came?.outcome.status).toBe('success');
    const warnings = came?.lines.filter(({ isWarning }) => isWarning) ?? [];
    for (const { level } of warnings) expect(level).toBe('error');
    return warnings.map(({ text }) => text);
  };

  it.each([
    ['an async function that nobody awaits', 'fails(); return 1;'],
    ['one that failed while the handler waited', `fails(); ${pause} return 1;`],
    ['a rejected promise', 'Promise.reject(new RangeError("too far")); return 1;'],
    [
      'an async callback of a timer',
      `setTimeout(async () => { throw new RangeError("too far"); }, 0); ${pause}${pause} return 1;`,
    ],
    [
      'a callback of a timer that throws',
      `setTimeout(() => { throw new RangeError("too far"); }, 0); ${pause}${pause} return 1;`,
    ],
    ['a chain without an end', 'fails().then(() => 1); await null; await null; await null; return 1;'],
  ])('leave a warning and a line of the log: %s', async (_what, body) => {
    expect(await warningsOf(body)).toEqual([expect.stringContaining('RangeError: too far')]);
  });

  it.each([
    ['caught', 'await fails().catch(() => {}); return 1;'],
    ['caught by one of several', 'await Promise.allSettled([fails(), fails()]); return 1;'],
    ['caught in a try', 'try { await fails(); } catch { } return 1;'],
    ['thrown and caught in nested functions', 'const a = async () => { await fails(); }; try { await a(); } catch { } return 1;'],
    [
      'none, as web streams are read to their end, left early or broken',
      `const ended = new ReadableStream({ start(c) { c.enqueue('a'); c.close(); } });
       const broken = new ReadableStream({ start(c) { c.error(new Error('broken')); } });
       const decoded = new Blob(['abc']).stream().pipeThrough(new TextDecoderStream());
       for (const each of [ended, decoded, new Response('abc').body]) for await (const _ of each);
       for await (const _ of ReadableStream.from([1, 2])) break;
       try { for await (const _ of broken); } catch { } return 1;`,
    ],
    [
      'none, as a web stream is left after its end',
      'const over = ReadableStream.from([]).values(); return [await over.next(), await over.return(1), await over.next()];',
    ],
  ])('are not told when they are %s', async (_what, body) => {
    expect(await warningsOf(body)).toEqual([]);
  });

  it('are not told of an error that is the end of the call', async () => {
    const came = await engines[name]?.(`{ handler: async () => { ${failing} await fails(); } }`);
    expect(came?.outcome).toMatchObject({ status: 'error', error: { code: 'handler-threw', message: 'too far' } });
    expect(came?.lines).toEqual([]);
  });
});

describe('a sandbox', () => {
  it('tells of nothing that is caught in the course of the call', async () => {
    const { outcome, lines } =
      (await engines.quickjs?.(
        `{ handler: async () => { ${failing} const late = fails(); ${pause} await late.catch(() => {}); } }`,
      )) ?? {};
    expect(outcome?.status).toBe('success');
    expect(lines).toEqual([]);
  });

  it('tells in a session of a rejection in the call in which it happened', async () => {
    const program = await cells.load(
      `{ handler: async ({ fail }) => { if (fail) Promise.reject(new Error('once')); return fail; } }`,
    );
    const call = async (fail: boolean) => {
      const before = cells.logs.length;
      await cells.call(program, { args: { fail }, isolation: 'session', cellKey: 'one' });
      return cells.logs.slice(before).length;
    };
    expect([await call(true), await call(false), await call(true)]).toEqual([1, 0, 1]);
  });
});
