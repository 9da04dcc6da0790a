import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveLimits } from '../../../../../src/config/limits.ts';
import { handlerOf } from '../../deno/deno-rig.ts';
import { describeDocker } from '../docker-machine.ts';
import { createDockerRig, type DockerRig } from './engine-rig.ts';

let rig: DockerRig;
beforeAll(() => {
  rig = createDockerRig();
});
afterAll(() => rig.close());

const load = (code: string, limits = resolveLimits()) => rig.engine.load({ key: code, label: 'tried.ts', code, limits });
const kept = async () => ({ ok: true, payload: '"kept"' }) as const;

describeDocker('createDockerEngine.load', () => {
  it('returns what the module exports as data', async () => {
    const loaded = await load("import os from 'node:os'; export default { name: 'a', tools: { b: { handler: () => os.EOL } } };");
    expect(loaded).toEqual({
      ok: true,
      exported: { default: { name: 'a', tools: { b: { handler: { $function: true } } } }, named: {} },
      warnings: [],
    });
  });

  it('evaluates the module in a container, never on this machine', async () => {
    process.env.HOTCELL_TEST_SECRET = 'must not be seen';
    const loaded = await load(
      "import { hostname } from 'node:os'; import { readdirSync } from 'node:fs'; export default { name: 'a', handler() {}, description: JSON.stringify([hostname(), process.pid > 1, process.env.HOTCELL_TEST_SECRET ?? null, readdirSync('/').includes('root')]) };",
    );
    delete process.env.HOTCELL_TEST_SECRET;
    expect(loaded).toMatchObject({ exported: { default: { description: '["cell",true,null,false]' } } });
  });

  it('places what the module throws in its own lines', async () => {
    expect(await load("const a = 1;\nthrow new TypeError('not today');")).toMatchObject({
      ok: false,
      error: { code: 'load-failed', name: 'TypeError', message: 'not today', frames: [{ file: 'plugin.js', line: 2 }] },
    });
  });

  it('awaits onLoad, in which no capability answers', async () => {
    const code = "export default { name: 'a', handler() {}, async onLoad() { await fetch('http://127.0.0.1/'); } };";
    expect(await load(code)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('not available while the plugin loads') },
    });
  });

  it('says what is wrong with text that is no module', async () => {
    expect(await load('export default {')).toMatchObject({ ok: false, error: { code: 'load-failed' } });
  });

  it('ends a module that never stops loading', async () => {
    expect(await load('for (;;);', resolveLimits({ cpuMs: 300 }))).toMatchObject({
      ok: false,
      error: { code: 'time-exceeded' },
    });
  });
});

describeDocker('createDockerEngine.run', () => {
  it('gives the handler its arguments and facts, and returns what it returns', async () => {
    const body = 'return { args, caller: context.caller.id, id: context.executionId, node: typeof process.version }';
    expect(await rig.run(handlerOf(body), { args: { city: 'Bonn' } })).toMatchObject({
      status: 'success',
      output: { args: { city: 'Bonn' }, caller: 'tester', id: expect.stringMatching(/^exe_/), node: 'string' },
    });
  });

  it('starts programs of the image', async () => {
    const body =
      "const { execFileSync } = await import('node:child_process'); return execFileSync('node', ['-p', '6 * 7'], { encoding: 'utf8' })";
    expect(await rig.run(handlerOf(body))).toMatchObject({ output: '42\n' });
  });

  it('places an error in the lines of the bundle, without a path of this machine', async () => {
    const outcome = await rig.run("{ name: 'tried',\n handler() {\n throw new RangeError('too far') } }");
    expect(outcome).toMatchObject({
      status: 'error',
      error: { code: 'handler-threw', name: 'RangeError', message: 'too far', frames: [{ file: 'plugin.js', line: 3 }] },
    });
    expect(JSON.stringify(outcome)).not.toContain(rig.house.dataDir);
  });

  it('asks over the border, records the crossing and counts it', async () => {
    expect(await rig.run(handlerOf("return context.kv.get('a')"), { answer: kept })).toMatchObject({
      status: 'success',
      output: 'kept',
      usage: { hostCalls: 1 },
      recording: { complete: true, crossings: [{ op: 'kv.get', payload: '{"key":"a"}', answer: { ok: true } }] },
    });
  });

  it('gives a refusal its code and sentence, placed where it was asked', async () => {
    expect(await rig.run(handlerOf('await context.fetch("http://a.example/")'))).toMatchObject({
      status: 'error',
      error: { code: 'permission-denied', message: 'Not granted.', frames: [{ file: 'plugin.js' }] },
    });
  });

  it('sends bytes both ways, many times the window of the line', async () => {
    const body = `const sent = new Uint8Array(3_000_000).map((_, index) => index % 251);
      const answer = await fetch('https://a.example/x', { method: 'POST', body: sent });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      return { status: answer.status, url: answer.url, same: Buffer.compare(bytes, sent.reverse()) };`;
    const outcome = await rig.run(handlerOf(body), {
      limits: { argumentBytes: 8_000_000 },
      answer: async ({ payload, body: taken }) => ({
        ok: true,
        payload: JSON.stringify({
          status: 201,
          statusText: 'Made',
          headers: [],
          url: JSON.parse(payload).url,
          redirected: false,
        }),
        body: new Uint8Array([...(taken ?? [])].reverse()),
      }),
    });
    expect(outcome).toMatchObject({ status: 'success', output: { status: 201, url: 'https://a.example/x', same: 0 } });
  });

  it('reads settings at once, and refuses those that are denied', async () => {
    const body =
      "let no; try { context.env.get('B') } catch (error) { no = error.code } return [context.env.get('A'), context.config.get('c', 5), no, process.env.A ?? null]";
    const view = () => ({ config: {}, env: { A: 'a' }, denied: { B: 'B is not granted.' } });
    const outcome = await rig.run(handlerOf(body), { view });
    expect(outcome).toMatchObject({ output: ['a', 5, 'permission-denied', 'a'], deniedNames: ['B'] });
  });

  it('keeps apart what the plugin prints and what it sends', async () => {
    const body = `console.warn('careful', { a: 1 });
      process.stdout.write('{"t":"return"}\\n\\0\\0\\0\\0 raw\\n');
      const { spawnSync } = await import('node:child_process');
      spawnSync('node', ['-e', 'console.log("from below"); console.error("from deeper")'], { stdio: 'inherit' });
      await context.kv.get('x');
      return 'whole'`;
    const outcome = await rig.run(handlerOf(body), { answer: kept });
    expect(outcome).toMatchObject({ status: 'success', output: 'whole' });
    expect(outcome.logs.map(({ level, text }) => [level, text])).toEqual(
      expect.arrayContaining([
        ['warn', 'careful { a: 1 }'],
        ['info', '{"t":"return"}'],
        ['info', 'from below'],
        ['warn', 'from deeper'],
      ]),
    );
  });

  it('runs every call of isolation "call" in a container of its own', async () => {
    const body =
      "const fs = await import('node:fs'); const seen = fs.existsSync('/tmp/seen'); fs.writeFileSync('/tmp/seen', 'x'); globalThis.seen = (globalThis.seen ?? 0) + 1; return [globalThis.seen, seen, fs.readdirSync('/tmp')]";
    const outcomes = [await rig.run(handlerOf(body)), await rig.run(handlerOf(body))];
    expect(outcomes).toMatchObject([{ output: [1, false, ['seen']] }, { output: [1, false, ['seen']] }]);
  });

  it('keeps a cell by its key, and nothing of it is seen under another', async () => {
    const plugin = handlerOf('globalThis.seen = (globalThis.seen ?? 0) + 1; return globalThis.seen');
    const call = (cellKey: string) => rig.run(plugin, { isolation: 'session', cellKey });
    expect([await call('a'), await call('a'), await call('b')]).toMatchObject([{ output: 1 }, { output: 2 }, { output: 1 }]);
  });

  it('forgets a kept cell when it is told to', async () => {
    const plugin = handlerOf('globalThis.seen = (globalThis.seen ?? 0) + 1; return globalThis.seen');
    const call = () => rig.run(plugin, { isolation: 'plugin', cellKey: 'dropped' });
    await call();
    rig.engine.discard({ cellKey: 'dropped' });
    expect(await call()).toMatchObject({ output: 1 });
  });

  it('hands the state of a kept cell on to the next generation', async () => {
    const source = `const seen = { name: 'tried', n: 0, handler() { return ++seen.n },
      onReload(state) { if (state === undefined) return { n: this.n }; this.n = state.n; } }; export default seen;`;
    const call = (key: string) => rig.run(source, { key, isolation: 'session', cellKey: 'state', handOver: true });
    expect([await call('one'), await call('one'), await call('two')]).toMatchObject([
      { output: 1 },
      { output: 2 },
      { output: 3 },
    ]);
  });

  it('runs calls of two callers beside each other, and neither hears the other', async () => {
    const plugin = handlerOf("const mine = await context.kv.get('a'); console.log('I am', mine); return mine");
    const answerWith = (name: string) => async () => ({ ok: true, payload: JSON.stringify(name) }) as const;
    const both = await Promise.all(['ada', 'bob'].map((name) => rig.run(plugin, { answer: answerWith(name) })));
    expect(
      both.map(({ logs, ...outcome }) => [outcome.status === 'success' && outcome.output, logs.map(({ text }) => text)]),
    ).toEqual([
      ['ada', ['I am ada']],
      ['bob', ['I am bob']],
    ]);
  });

  it('lets calls that wait for each other through, however few may run at once', async () => {
    const narrow = createDockerRig({ maxRunning: 1 });
    const inner = handlerOf("return 'inner'");
    const outer = handlerOf("return context.tools.call('inner', {})");
    const callInner = async () => {
      const { status } = await narrow.run(inner);
      return { ok: true, payload: JSON.stringify({ status, output: 'inner' }) } as const;
    };
    expect(await narrow.run(outer, { answer: callInner })).toMatchObject({ status: 'success' });
    await narrow.close();
  });
});
