import { afterAll, describe, expect, it } from 'vitest';
import type { BorderAnswer, BorderRequest } from '../../../src/border/border.ts';
import { resolveLimits } from '../../../src/config/limits.ts';
import { Deadline } from '../../../src/engines/deadline.ts';
import { createExtismEngine } from '../../../src/engines/extism/extism-engine.ts';
import { assemblePlugin, createTestBorder, runRequest } from './wat-program.ts';

const engine = createExtismEngine({ keepWarm: 1 });
const never = new AbortController().signal;

afterAll(() => engine.close());

const importHost = (namespace: string, name: string, type: string) => `(import "${namespace}" "${name}" (func $${name} ${type}))`;
const blocks = [
  importHost('extism:host/env', 'input_offset', '(result i64)'),
  importHost('extism:host/env', 'length', '(param i64) (result i64)'),
  importHost('extism:host/env', 'output_set', '(param i64 i64)'),
];
const sayBlock = '(call $output_set (local.get $answer) (call $length (local.get $answer))) (i32.const 0)';

/** A module that hands its input to one host function and returns the block that it gets. */
function passOn(namespace: string, name: string): Promise<Uint8Array> {
  const more = [importHost(namespace, name, '(param i64) (result i64)'), ...blocks].join('\n');
  return assemblePlugin(`(local $answer i64) (local.set $answer (call $${name} (call $input_offset))) ${sayBlock}`, more);
}

/** A border that answers by operation and remembers what it was asked. */
function createAnsweringBorder(answer: (request: BorderRequest, signal: AbortSignal) => Promise<BorderAnswer> | BorderAnswer) {
  const asked: BorderRequest[] = [];
  return {
    ...createTestBorder(),
    asked,
    answer: async (request: BorderRequest, signal: AbortSignal) => {
      asked.push(request);
      return answer(request, signal);
    },
  };
}

const ok = (value: unknown, body?: Uint8Array): BorderAnswer => ({
  ok: true,
  payload: JSON.stringify(value),
  ...(body && { body }),
});

describe('hotcell_call', () => {
  it('reaches every capability over the border, and what crossed is recorded', async () => {
    const border = createAnsweringBorder(({ payload }) => ok({ echoed: JSON.parse(payload) }, Uint8Array.of(1, 2, 3)));
    const code = await passOn('extism:host/user', 'hotcell_call');
    const argumentsJson = JSON.stringify({ op: 'kv.get', payload: { key: 'k' }, body: 'AQI=' });
    const outcome = await engine.run(runRequest(code, { argumentsJson }), border, never);
    expect(outcome).toMatchObject({
      status: 'success',
      output: { ok: true, payload: { echoed: { key: 'k' } }, body: 'AQID' },
      usage: { hostCalls: 1 },
      recording: { complete: true, crossings: [{ id: 1, op: 'kv.get', payload: '{"key":"k"}', answer: { ok: true } }] },
    });
    expect(border.asked).toMatchObject([{ id: 1, op: 'kv.get', body: Uint8Array.of(1, 2) }]);
  });

  it('gives a refusal to the guest as data', async () => {
    const code = await passOn('extism:host/user', 'hotcell_call');
    const argumentsJson = JSON.stringify({ op: 'fetch', payload: { url: 'http://a/' } });
    const outcome = await engine.run(runRequest(code, { argumentsJson }), createTestBorder(), never);
    expect(outcome).toMatchObject({ status: 'success', output: { ok: false, code: 'permission-denied' } });
  });

  it.each([['{}'], ['{"op":""}'], ['[]'], ['"text"'], ['{"op":7}']])('ends a call that asks for %s', async (argumentsJson) => {
    const border = createAnsweringBorder(() => ok(null));
    const code = await passOn('extism:host/user', 'hotcell_call');
    expect(await engine.run(runRequest(code, { argumentsJson }), border, never)).toMatchObject({
      status: 'error',
      error: { code: 'arguments-invalid' },
    });
    expect(border.asked).toEqual([]);
  });

  it('is bounded in number', async () => {
    const code = await assemblePlugin(
      '(loop $again (drop (call $hotcell_call (call $input_offset))) (br $again)) (i32.const 0)',
      [importHost('extism:host/user', 'hotcell_call', '(param i64) (result i64)'), ...blocks].join('\n'),
    );
    const limits = resolveLimits({ hostCalls: 5 });
    const border = createAnsweringBorder(() => ok(null));
    const outcome = await engine.run(runRequest(code, { argumentsJson: '{"op":"x"}', limits }), border, never);
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'host-calls-exceeded' }, usage: { hostCalls: 5 } });
    expect(border.asked).toHaveLength(5);
  });

  it('ends at the deadline and when it is cancelled, though its thread sleeps', async () => {
    const code = await passOn('extism:host/user', 'hotcell_call');
    const ended: string[] = [];
    const border = createAnsweringBorder(
      (_request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ended.push('aborted');
            resolve(ok(null));
          });
        }),
    );
    const late = runRequest(code, { argumentsJson: '{"op":"x"}', deadline: new Deadline(1500) });
    expect(await engine.run(late, border, never)).toMatchObject({ status: 'timeout' });
    const controller = new AbortController();
    const running = engine.run(runRequest(code, { argumentsJson: '{"op":"x"}' }), border, controller.signal);
    await expect.poll(() => border.asked.length).toBe(2);
    controller.abort();
    expect(await running).toMatchObject({ status: 'cancelled' });
    expect(ended).toEqual(['aborted', 'aborted']);
  });
});

describe('http_request', () => {
  const importHttp = importHost('extism:host/env', 'http_request', '(param i64 i64) (result i64)');
  const program = (result: string, more: string[] = []) =>
    assemblePlugin(
      `(local $answer i64) (local.set $answer (call $http_request (call $input_offset) (i64.const 0))) ${result} ${sayBlock}`,
      [importHttp, ...more, ...blocks].join('\n'),
    );
  const request = JSON.stringify({ url: 'http://a.example/', method: 'POST', headers: { accept: 'x' } });

  it('goes through the fetch of the daemon and reads a long body to its end', async () => {
    const border = createAnsweringBorder(({ op }) =>
      op === 'fetch'
        ? ok({ status: 201, headers: [['x-a', '1']], stream: 's1' }, Buffer.from('"one '))
        : ok({ done: border.asked.length === 3 }, Buffer.from(border.asked.length === 3 ? 'three"' : 'two ')),
    );
    const outcome = await engine.run(runRequest(await program(''), { argumentsJson: request }), border, never);
    expect(outcome).toMatchObject({ status: 'success', output: 'one two three' });
    expect(JSON.parse(border.asked[0]?.payload ?? '')).toEqual({
      url: 'http://a.example/',
      method: 'POST',
      headers: [['accept', 'x']],
    });
  });

  it('tells the headers of the answer', async () => {
    const headers = importHost('extism:host/env', 'http_headers', '(result i64)');
    const code = await program('(local.set $answer (call $http_headers))', [headers]);
    const border = createAnsweringBorder(() =>
      ok({
        status: 200,
        headers: [
          ['x-a', '1'],
          ['x-a', '2'],
        ],
      }),
    );
    expect(await engine.run(runRequest(code, { argumentsJson: request }), border, never)).toMatchObject({
      output: { 'x-a': '2' },
    });
  });

  it('ends the call with what the daemon refused', async () => {
    const outcome = await engine.run(runRequest(await program(''), { argumentsJson: request }), createTestBorder(), never);
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'permission-denied', message: 'Nothing is granted.' } });
  });
});

describe('the short forms', () => {
  it('get, set and delete values and call tools', async () => {
    const border = createAnsweringBorder(({ op, payload }) =>
      op === 'tools.call' ? ok({ of: JSON.parse(payload) }) : ok(op === 'kv.get' ? { n: 1 } : null),
    );
    const get = await passOn('extism:host/user', 'kv_get');
    expect(await engine.run(runRequest(get, { argumentsJson: 'k' }), border, never)).toMatchObject({ output: { n: 1 } });
    const call = await assemblePlugin(
      `(local $answer i64) (local.set $answer (call $tools_call (call $input_offset) (i64.const 0))) ${sayBlock}`,
      [importHost('extism:host/user', 'tools_call', '(param i64 i64) (result i64)'), ...blocks].join('\n'),
    );
    expect(await engine.run(runRequest(call, { argumentsJson: 'other' }), border, never)).toMatchObject({
      output: { of: { name: 'other', arguments: {} } },
    });
  });
});
