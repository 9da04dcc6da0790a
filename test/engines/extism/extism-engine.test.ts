import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { resolveLimits } from '../../../src/config/limits.ts';
import { Deadline } from '../../../src/engines/deadline.ts';
import { createExtismEngine } from '../../../src/engines/extism/extism-engine.ts';
import { embedSidecar } from '../../../src/engines/extism/module/sidecar.ts';
import { assemble, assemblePlugin, createTestBorder, loadRequest, runRequest } from './wat-program.ts';

const engine = createExtismEngine({ keepWarm: 1 });
const never = new AbortController().signal;
const spin = '(loop $again (br $again)) (i32.const 0)';

afterAll(() => engine.close());

async function readCountVowels(): Promise<Uint8Array> {
  const folder = new URL('../../../wasm/', import.meta.url);
  const module = await readFile(new URL('count-vowels.wasm', folder));
  const text = await readFile(new URL('count-vowels.json', folder), 'utf8');
  return embedSidecar('count-vowels.wasm', module, { file: 'count-vowels.json', text });
}

describe('createExtismEngine.load', () => {
  it('returns the sidecar as the exported data of a plugin', async () => {
    const result = await engine.load(loadRequest(await readCountVowels()));
    expect(result).toMatchObject({
      ok: true,
      exported: {
        default: { name: 'count_vowels', engine: 'extism', handler: { $function: true }, parameters: { type: 'object' } },
      },
      warnings: [],
    });
  });

  it('names the exports when the one of the sidecar is missing', async () => {
    const module = await assemble('(module (func (export "other")))');
    const code = embedSidecar('a.wasm', module, { file: 'a.json', text: '{"export":"run"}' });
    const result = await engine.load(loadRequest(code));
    expect(result).toMatchObject({ ok: false, error: { code: 'export-missing', message: expect.stringContaining('other') } });
  });

  it('refuses imports beyond Extism and WASI', async () => {
    const code = await assemblePlugin('(i32.const 0)', '(import "env" "open" (func))');
    expect(await engine.load(loadRequest(code))).toMatchObject({
      ok: false,
      error: { code: 'import-refused', message: expect.stringContaining('env.open (function)') },
    });
  });

  it('says what is wrong with bytes that do not validate', async () => {
    const broken = (await assemblePlugin('(i32.const 0)')).slice();
    const body = broken.lastIndexOf(0x41);
    broken[body] = 0xff;
    expect(await engine.load(loadRequest(broken))).toMatchObject({ ok: false, error: { code: 'compile-failed' } });
  });

  it('refuses a module that wants more memory than the limit', async () => {
    const module = await assemble('(module (memory 100) (func (export "run")))');
    const code = embedSidecar('a.wasm', module, { file: 'a.json', text: '{"export":"run"}' });
    const result = await engine.load(loadRequest(code, { memoryBytes: 1024 * 1024 }));
    expect(result).toMatchObject({ ok: false, error: { code: 'memory-exceeded' } });
    const more = JSON.stringify({ export: 'run', limits: { memoryBytes: 8 * 1024 * 1024 } });
    const raised = embedSidecar('a.wasm', module, { file: 'a.json', text: more });
    expect(await engine.load(loadRequest(raised, { memoryBytes: 1024 * 1024 }))).toMatchObject({ ok: true });
  });
});

describe('createExtismEngine.run', () => {
  it('gives the arguments as JSON and returns the parsed output', async () => {
    const request = runRequest(await readCountVowels(), { argumentsJson: '{"text":"hello world"}' });
    const outcome = await engine.run(request, createTestBorder(), never);
    expect(outcome).toMatchObject({ status: 'success', output: { vowels: 3, letters: 10 }, usage: { hostCalls: 0 } });
  });

  it('reports what the module passed to error_set', async () => {
    const outcome = await engine.run(runRequest(await readCountVowels()), createTestBorder(), never);
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'handler-threw', message: 'expected {"text": "..."}' } });
  });

  it('reports a trap with the place in the module', async () => {
    const outcome = await engine.run(runRequest(await assemblePlugin('unreachable')), createTestBorder(), never);
    expect(outcome).toMatchObject({
      status: 'error',
      error: { code: 'handler-threw', name: 'RuntimeError', frames: [{ file: 'module.wasm', line: 1 }] },
    });
  });

  it('keeps nothing from one call to the next', async () => {
    const code = await assemblePlugin(
      `(if (i32.load (i32.const 0)) (then unreachable)) (i32.store (i32.const 0) (i32.const 1)) (i32.const 0)`,
    );
    const request = runRequest(code);
    for (let call = 0; call < 3; call++) {
      expect(await engine.run(request, createTestBorder(), never)).toMatchObject({ status: 'success' });
    }
  });

  it('runs the constructors of a library once', async () => {
    const code = await assemblePlugin(
      '(if (i32.eqz (i32.load (i32.const 0))) (then unreachable)) (i32.const 0)',
      '(func (export "_initialize") (i32.store (i32.const 0) (i32.const 1)))',
    );
    expect(await engine.run(runRequest(code), createTestBorder(), never)).toMatchObject({ status: 'success' });
  });

  it('serves several tools of one module by their exports', async () => {
    const module = await assemble('(module (func (export "good")) (func (export "bad") unreachable))');
    const sidecar = JSON.stringify({ name: 'two', tools: { good: {}, renamed: { export: 'bad' } } });
    const code = embedSidecar('two.wasm', module, { file: 'two.json', text: sidecar });
    const border = createTestBorder();
    expect(await engine.run(runRequest(code, { handler: 'good' }), border, never)).toMatchObject({ status: 'success' });
    expect(await engine.run(runRequest(code, { handler: 'renamed' }), border, never)).toMatchObject({ status: 'error' });
    expect(await engine.run(runRequest(code, { handler: 'constructor' }), border, never)).toMatchObject({
      status: 'error',
      error: { code: 'engine-failed' },
    });
  });

  it('refuses a cell that outlives its call', async () => {
    const request = runRequest(await readCountVowels(), { isolation: 'plugin' });
    expect(await engine.run(request, createTestBorder(), never)).toMatchObject({ error: { code: 'not-supported' } });
  });

  it('answers config_get from sidecar and daemon, and refuses what was denied', async () => {
    const host = (name: string, type: string) => `(import "extism:host/env" "${name}" (func $${name} ${type}))`;
    const code = await assemblePlugin(
      `(local $key i64)
       (local.set $key (call $alloc (i64.const 1)))
       (call $store_u8 (local.get $key) (i32.const 107))
       (local.set $key (call $config_get (local.get $key)))
       (call $output_set (local.get $key) (call $length (local.get $key)))
       (i32.const 0)`,
      [
        host('alloc', '(param i64) (result i64)'),
        host('store_u8', '(param i64 i32)'),
        host('config_get', '(param i64) (result i64)'),
        host('length', '(param i64) (result i64)'),
        host('output_set', '(param i64 i64)'),
      ].join('\n'),
    );
    const granted = createTestBorder({ config: { k: { deep: 1 } } });
    expect(await engine.run(runRequest(code), granted, never)).toMatchObject({ status: 'success', output: { deep: 1 } });
    const denied = createTestBorder({ denied: { k: 'Not granted.' } });
    expect(await engine.run(runRequest(code), denied, never)).toMatchObject({
      status: 'error',
      error: { code: 'permission-denied', message: 'Not granted.' },
    });
  });

  it('goes on serving after close only with refusals', async () => {
    const closed = createExtismEngine();
    await closed.close();
    expect(await closed.run(runRequest(await readCountVowels()), createTestBorder(), never)).toMatchObject({
      status: 'cancelled',
    });
  });
});

describe('createExtismEngine limits', () => {
  it('ends a spinning call at its deadline while a neighbour is served', async () => {
    const code = await assemblePlugin(spin);
    const spinning = engine.run(runRequest(code, { deadline: new Deadline(500) }), createTestBorder(), never);
    const neighbour = runRequest(await readCountVowels(), { argumentsJson: '{"text":"aa"}' });
    expect(await engine.run(neighbour, createTestBorder(), never)).toMatchObject({ output: { vowels: 2 } });
    expect(await spinning).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    expect(await engine.run(neighbour, createTestBorder(), never)).toMatchObject({ status: 'success' });
  });

  it('ends a call at its limit of processor time', async () => {
    const request = runRequest(await assemblePlugin(spin), { limits: resolveLimits({ cpuMs: 200 }) });
    expect(await engine.run(request, createTestBorder(), never)).toMatchObject({
      status: 'timeout',
      error: { code: 'time-exceeded', message: expect.stringContaining('200 ms of processor time') },
    });
  });

  it('ends a call that is cancelled, and one that waits for a worker', async () => {
    const code = await assemblePlugin(spin);
    const cancel = new AbortController();
    const runs = [1, 2, 3, 4].map(() => engine.run(runRequest(code), createTestBorder(), cancel.signal));
    cancel.abort();
    for (const outcome of await Promise.all(runs)) expect(outcome).toMatchObject({ status: 'cancelled' });
  });

  it('does not let memory grow beyond its limit', async () => {
    const grow = `(loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))`;
    const code = await assemblePlugin(`${grow} (if (i32.gt_u (memory.size) (i32.const 32)) (then unreachable)) (i32.const 0)`);
    const request = runRequest(code, { limits: resolveLimits({ memoryBytes: 32 * 65_536 }) });
    expect(await engine.run(request, createTestBorder(), never)).toMatchObject({ status: 'success' });
    const trapping = await assemblePlugin(`${grow} unreachable`);
    expect(await engine.run(runRequest(trapping), createTestBorder(), never)).toMatchObject({
      error: { code: 'memory-exceeded' },
    });
  });

  it('bounds the memory that the host lends', async () => {
    const importAlloc = '(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))';
    const code = await assemblePlugin('(drop (call $alloc (i64.const 0x100000000))) (i32.const 0)', importAlloc);
    expect(await engine.run(runRequest(code), createTestBorder(), never)).toMatchObject({ error: { code: 'memory-exceeded' } });
    const many = await assemblePlugin('(loop $again (drop (call $alloc (i64.const 0))) (br $again)) (i32.const 0)', importAlloc);
    expect(await engine.run(runRequest(many), createTestBorder(), never)).toMatchObject({ error: { code: 'memory-exceeded' } });
  });

  it('does not let tables, which lie on the heap of the host, grow beyond their limit', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const tables = names.map((name) => `(table $${name} 1 externref)`).join(' ');
    const grow = names
      .map(
        (name) => `(if (i32.ne (table.grow $${name} (ref.null extern) (i32.const 9999999)) (i32.const -1)) (then unreachable))`,
      )
      .join(' ');
    const code = await assemblePlugin(`${grow} (i32.const 0)`, tables);
    expect(await engine.run(runRequest(code), createTestBorder(), never)).toMatchObject({ status: 'success' });
  });

  it('reports deep recursion', async () => {
    const code = await assemblePlugin('(call $deep) (i32.const 0)', '(func $deep (call $deep) (call $deep))');
    expect(await engine.run(runRequest(code), createTestBorder(), never)).toMatchObject({ error: { code: 'stack-exceeded' } });
  });

  it('refuses more output than the limit', async () => {
    const code = await assemblePlugin(
      '(local $b i64) (local.set $b (call $alloc (i64.const 5000))) (call $output_set (local.get $b) (i64.const 5000)) (i32.const 0)',
      `(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
       (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))`,
    );
    const request = runRequest(code, { limits: resolveLimits({ outputBytes: 4096 }) });
    expect(await engine.run(request, createTestBorder(), never)).toMatchObject({ error: { code: 'output-exceeded' } });
  });

  it('passes the log on up to its limit and says that the rest is dropped', async () => {
    const code = await assemblePlugin(
      `(local $b i64) (local $n i32) (local.set $b (call $alloc (i64.const 3)))
       (loop $again
         (call $log_info (local.get $b))
         (local.set $n (i32.add (local.get $n) (i32.const 1)))
         (br_if $again (i32.lt_u (local.get $n) (i32.const 1000))))
       (i32.const 0)`,
      `(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
       (import "extism:host/env" "log_info" (func $log_info (param i64)))`,
    );
    const border = createTestBorder();
    const request = runRequest(code, { limits: resolveLimits({ logLines: 10 }) });
    expect(await engine.run(request, border, never)).toMatchObject({ status: 'success', usage: { logLines: 10 } });
    expect(border.lines).toHaveLength(11);
    expect(border.lines[10]).toMatchObject({ level: 'warn', text: expect.stringContaining('log of this call is full') });
  });
});
