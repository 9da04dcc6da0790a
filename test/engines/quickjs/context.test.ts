import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BorderAnswer, BorderRequest } from '../../../src/border/border.ts';
import { type CellEngine, outputOf, startCellEngine } from './cell-engine.ts';

let cells: CellEngine;
beforeAll(async () => {
  cells = await startCellEngine({ min: 1, max: 1 });
});
afterAll(() => cells.close());

/** Answers with what was asked. */
const sayBack = async ({ op, payload }: BorderRequest): Promise<BorderAnswer> => ({
  ok: true,
  payload: JSON.stringify({ op, ...JSON.parse(payload) }),
});

const refuse = async ({ op }: BorderRequest): Promise<BorderAnswer> => ({
  ok: false,
  code: 'not-supported',
  message: `no ${op}`,
});

describe('createContext', () => {
  it('passes on the options of files.list and files.delete', async () => {
    const program = await cells.load(`{ handler: async (args, { files }) => [
      await files.list('a', { after: 'b', limit: 2 }), await files.delete('c', { recursive: true }) ] }`);
    expect(outputOf(await cells.call(program, { answer: sayBack }))).toEqual([
      { op: 'files.list', path: 'a', after: 'b', limit: 2 },
      { op: 'files.delete', path: 'c', recursive: true },
    ]);
  });

  it.each([
    ['a call', 'context.agent.pushTask("x", 5)', 'no agent.pushTask'],
    ['a call of a member of a member', 'context.browser.page.title()', 'no browser.page.title'],
    ['an await', 'context.browser', 'no browser'],
    ['an await of a member', 'context.browser.page', 'no browser.page'],
    ['text made of it', 'String(context.browser.page.title)', 'context.browser.page.title is not part of this version.'],
    ['JSON made of it', 'JSON.stringify({ agent: context.agent.state })', 'context.agent.state is not part of this version.'],
    ['what a part does not have', 'context.llm.chat("x")', 'no llm.chat'],
  ])('refuses by its name what it does not have: %s', async (_use, use, message) => {
    const program = await cells.load(`{ handler: async (args, context) => await ${use} }`);
    expect(await cells.call(program, { answer: refuse })).toMatchObject({
      status: 'error',
      error: { code: 'not-supported', message },
    });
  });

  it('says where in the plugin something was asked that is refused later', async () => {
    const program = await cells.load(`{ handler: async (args, context) => {
      await context.kv.get('a');
    } }`);
    const outcome = await cells.call(program, { answer: refuse });
    expect(outcome).toMatchObject({ status: 'error', error: { frames: [{ line: 2 }] } });
  });

  it('says where in the plugin something was asked that is refused at once', async () => {
    const loading = cells.load(`{ handler: () => 1, onLoad: async () => {
      await fetch('https://a.example/');
    } }`);
    await expect(loading).rejects.toThrow('not-supported: "fetch" is not available while the plugin loads');
  });

  it('has a process that shows no variable which is not granted, and ends nothing', async () => {
    const program = await cells.load(
      `{ handler: () => { try { process.exit(1) } catch (error) { return [typeof process.env.KEY, error.message] } } }`,
    );
    const output = outputOf(await cells.call(program));
    expect(output).toEqual(['undefined', expect.stringContaining('process.exit')]);
  });

  it('takes the fallback of config.get for a value that may not be read', async () => {
    const program = await cells.load(`{ handler: (args, { config }) => [config.get('known', 1), config.get('other', 2)] }`);
    expect(outputOf(await cells.call(program, { config: { known: 'yes' } }))).toEqual(['yes', 2]);
  });
});

describe('a call that ends before its host calls', () => {
  it.each([
    ['asked in the last moment', `context.kv.set('a', 1); return 'done';`],
    ['asked before', `context.kv.set('a', 1); await new Promise((resolve) => setTimeout(resolve, 1)); return 'done';`],
  ])('is told what it did not await: %s', async (_when, code) => {
    cells.logs.length = 0;
    const program = await cells.load(`{ handler: async (args, context) => { ${code} } }`);
    const answer = (): Promise<BorderAnswer> => new Promise(() => {});
    expect(outputOf(await cells.call(program, { answer }))).toBe('done');
    expect(cells.logs).toMatchObject([{ level: 'warn', text: expect.stringContaining('context.kv.set') }]);
  });

  it('hears nothing of timers', async () => {
    cells.logs.length = 0;
    const program = await cells.load(`{ handler: () => { setTimeout(() => {}, 1000); return 'done'; } }`);
    expect(outputOf(await cells.call(program))).toBe('done');
    expect(cells.logs).toEqual([]);
  });
});

describe('an aborted fetch', () => {
  it('ends the request at the host while the call goes on', async () => {
    const aborted = Promise.withResolvers<string>();
    const answer = ({ op }: BorderRequest, signal: AbortSignal): Promise<BorderAnswer> => {
      signal.addEventListener('abort', () => aborted.resolve(op));
      return new Promise(() => {});
    };
    const program = await cells.load(`{ handler: async () => {
      const controller = new AbortController();
      const asked = fetch('https://a.example/', { signal: controller.signal });
      await new Promise((resolve) => setTimeout(resolve, 5));
      controller.abort();
      const reason = await asked.catch((error) => error.name);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return reason;
    } }`);
    expect(outputOf(await cells.call(program, { answer }))).toBe('AbortError');
    expect(await aborted.promise).toBe('fetch');
  });

  it('is never sent when it is aborted in the same moment', async () => {
    const asked: string[] = [];
    const answer = async ({ op }: BorderRequest): Promise<BorderAnswer> => {
      asked.push(op);
      return { ok: true, payload: 'null' };
    };
    const program = await cells.load(`{ handler: async (args, context) => {
      const controller = new AbortController();
      const first = fetch('https://a.example/', { signal: controller.signal }).catch((error) => error.name);
      await null;
      controller.abort();
      await context.kv.get('a');
      return first;
    } }`);
    expect(outputOf(await cells.call(program, { answer }))).toBe('AbortError');
    expect(asked).toEqual(['kv.get']);
  });
});
