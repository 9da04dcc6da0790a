import { afterAll, describe, expect, it } from 'vitest';
import { resolveLimits } from '../../../../src/config/limits.ts';
import { createDenoRig, handlerOf } from './deno-rig.ts';

const rig = createDenoRig();
afterAll(() => rig.close());

const load = (code: string) => rig.engine.load({ key: code, label: 'tried.ts', code, limits: resolveLimits() });

describe('createDenoEngine.load', () => {
  it('returns what the module exports as data', async () => {
    const loaded = await load("import os from 'node:os'; export default { name: 'a', tools: { b: { handler: () => os.EOL } } };");
    expect(loaded).toEqual({
      ok: true,
      exported: { default: { name: 'a', tools: { b: { handler: { $function: true } } } }, named: {} },
      warnings: [],
    });
  });

  it('places what the module throws in its own lines', async () => {
    const loaded = await load("const a = 1;\nthrow new TypeError('not today');");
    expect(loaded).toMatchObject({
      ok: false,
      error: { code: 'load-failed', name: 'TypeError', message: 'not today', frames: [{ file: 'plugin.js', line: 2 }] },
    });
  });

  it('awaits onLoad, in which no capability answers', async () => {
    const loaded = await load(
      "export default { name: 'a', handler() {}, async onLoad() { await fetch('http://127.0.0.1/'); } };",
    );
    expect(loaded).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('not available while the plugin loads') },
    });
  });

  it('says what is wrong with text that is no module', async () => {
    expect(await load('export default {')).toMatchObject({ ok: false, error: { code: 'load-failed' } });
  });

  it('ends a module that never stops loading', async () => {
    const code = 'for (;;);';
    const loaded = await rig.engine.load({ key: code, label: 'a.ts', code, limits: resolveLimits({ cpuMs: 300 }) });
    expect(loaded).toMatchObject({ ok: false, error: { code: 'time-exceeded' } });
  });
});

describe('createDenoEngine.run', () => {
  it('gives the handler its arguments and facts, and returns what it returns', async () => {
    const outcome = await rig.run(
      handlerOf('return { args, caller: context.caller.id, id: context.executionId, deno: typeof Deno.version }'),
      {
        args: { city: 'Bonn' },
      },
    );
    expect(outcome).toMatchObject({
      status: 'success',
      output: { args: { city: 'Bonn' }, caller: 'tester', id: expect.stringMatching(/^exe_/), deno: 'object' },
    });
  });

  it('places an error in the lines of the bundle, without a path of this machine', async () => {
    const outcome = await rig.run("{ name: 'tried',\n handler() {\n throw new RangeError('too far') } }");
    expect(outcome).toMatchObject({
      status: 'error',
      error: { code: 'handler-threw', name: 'RangeError', message: 'too far', frames: [{ file: 'plugin.js', line: 3 }] },
    });
    expect(JSON.stringify(outcome)).not.toContain(rig.dataDir);
  });

  it('asks over the border, records the crossing and counts it', async () => {
    const outcome = await rig.run(handlerOf("return context.kv.get('a')"), {
      answer: async () => ({ ok: true, payload: '"kept"' }),
    });
    expect(outcome).toMatchObject({
      status: 'success',
      output: 'kept',
      usage: { hostCalls: 1 },
      recording: { complete: true, crossings: [{ op: 'kv.get', payload: '{"key":"a"}', answer: { ok: true } }] },
    });
  });

  it('gives a refusal its code and sentence, placed where it was asked', async () => {
    const outcome = await rig.run(handlerOf('await context.fetch("http://a.example/")'));
    expect(outcome).toMatchObject({
      status: 'error',
      error: { code: 'permission-denied', message: 'Not granted.', frames: [{ file: 'plugin.js' }] },
    });
  });

  it('sends bytes both ways over fetch', async () => {
    const outcome = await rig.run(
      handlerOf(`const answer = await fetch('https://a.example/x', { method: 'POST', body: new Uint8Array([1, 2, 3]), headers: { 'x-a': 'b' } });
        return { status: answer.status, url: answer.url, bytes: [...new Uint8Array(await answer.arrayBuffer())], type: answer.headers.get('content-type') };`),
      {
        answer: async ({ payload, body }) => ({
          ok: true,
          payload: JSON.stringify({
            status: 201,
            statusText: 'Made',
            headers: [['content-type', 'a/b']],
            url: JSON.parse(payload).url,
            redirected: false,
          }),
          body: new Uint8Array([...(body ?? [])].reverse()),
        }),
      },
    );
    expect(outcome).toMatchObject({
      status: 'success',
      output: { status: 201, url: 'https://a.example/x', bytes: [3, 2, 1], type: 'a/b' },
    });
  });

  it('reads settings at once, and refuses those that are denied', async () => {
    const outcome = await rig.run(
      handlerOf(
        "let no; try { context.env.get('B') } catch (error) { no = error.code } return [context.env.get('A'), context.config.get('c', 5), no, process.env.A ?? null]",
      ),
      { view: () => ({ config: {}, env: { A: 'a' }, denied: { B: 'B is not granted.' } }) },
    );
    expect(outcome).toMatchObject({ status: 'success', output: ['a', 5, 'permission-denied', 'a'], deniedNames: ['B'] });
  });

  it('sees a revocation in a running call', async () => {
    let denied = {};
    const outcome = await rig.run(
      handlerOf(
        "const first = context.env.get('A'); await context.kv.get('x'); try { return [first, context.env.get('A')] } catch (error) { return [first, error.code] }",
      ),
      {
        view: () => ({ config: {}, env: 'A' in denied ? {} : { A: 'a' }, denied }),
        answer: async () => {
          denied = { A: 'revoked' };
          return { ok: true, payload: 'null' };
        },
      },
    );
    expect(outcome).toMatchObject({ output: ['a', 'permission-denied'] });
  });

  it('keeps apart what the plugin prints and what it sends', async () => {
    const outcome = await rig.run(
      handlerOf(`console.warn('careful', { a: 1 });
        await Deno.stdout.write(new TextEncoder().encode('{"t":"return"}\\n\\0\\0\\0\\0 raw\\n'));
        await context.kv.get('x');
        return 'whole'`),
      { answer: async () => ({ ok: true, payload: 'null' }) },
    );
    expect(outcome).toMatchObject({ status: 'success', output: 'whole' });
    expect(outcome.logs).toContainEqual(expect.objectContaining({ level: 'warn', text: 'careful { a: 1 }' }));
  });

  it('runs every call of isolation "call" in a process of its own', async () => {
    const plugin = handlerOf('globalThis.seen = (globalThis.seen ?? 0) + 1; return [globalThis.seen, Deno.pid]');
    const [first, second] = [await rig.run(plugin), await rig.run(plugin)];
    expect([first, second]).toMatchObject([{ output: [1, expect.any(Number)] }, { output: [1, expect.any(Number)] }]);
    expect(first.status === 'success' && second.status === 'success' && first.output).not.toEqual(
      second.status === 'success' && second.output,
    );
  });

  it('keeps a cell by its key, and nothing of it is seen under another', async () => {
    const plugin = handlerOf('globalThis.seen = (globalThis.seen ?? 0) + 1; return globalThis.seen');
    const call = (cellKey: string) => rig.run(plugin, { isolation: 'session', cellKey });
    expect([await call('a'), await call('a'), await call('b')]).toMatchObject([{ output: 1 }, { output: 2 }, { output: 1 }]);
  });

  it('gives up a kept cell of the caller who has most when there are too many', async () => {
    const plugin = handlerOf('globalThis.seen = (globalThis.seen ?? 0) + 1; return globalThis.seen');
    const own = createDenoRig({ maxKept: 3 });
    try {
      const call = (caller: string, cellKey: string) => own.run(plugin, { isolation: 'session', cellKey, caller });
      await call('bob', 'bob-1');
      for (const cellKey of ['ann-1', 'ann-2', 'ann-3', 'ann-4']) await call('ann', cellKey);
      expect([await call('bob', 'bob-1'), await call('ann', 'ann-4')]).toMatchObject([{ output: 2 }, { output: 2 }]);
      expect(await call('ann', 'ann-1')).toMatchObject({ output: 1 });
    } finally {
      await own.close();
    }
  });

  it('hands the state of a kept cell on to the next generation', async () => {
    const plugin =
      "{ name: 'tried', n: 0, onReload(state) { if (state === undefined) return { n: this.n }; this.n = state.n; }, handler() { return ++seen.n } }";
    const source = `const seen = ${plugin.replace('handler() { return ++seen.n }', 'handler() { return ++seen.n }')}; export default seen;`;
    const call = (key: string) => rig.run(source, { key, isolation: 'session', cellKey: 'state', handOver: true });
    expect([await call('one'), await call('one'), await call('two')]).toMatchObject([
      { output: 1 },
      { output: 2 },
      { output: 3 },
    ]);
  });

  it('stores nothing that another process could read', async () => {
    const outcome = await rig.run(
      handlerOf(`const tried = {};
        try { localStorage.setItem('a', 'b'); tried.storage = true } catch { tried.storage = false }
        try { await caches.open('x'); tried.caches = true } catch { tried.caches = false }
        return tried`),
    );
    expect(outcome).toMatchObject({ output: { storage: false, caches: false } });
  });
});
