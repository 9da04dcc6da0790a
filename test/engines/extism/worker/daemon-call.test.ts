import { afterAll, describe, expect, it } from 'vitest';
import { resolveLimits } from '../../../../src/config/limits.ts';
import { createExtismEngine } from '../../../../src/engines/extism/extism-engine.ts';
import { assemblePlugin, createTestBorder, runRequest } from '../wat-program.ts';

const engine = createExtismEngine({ keepWarm: 1 });
const never = new AbortController().signal;
afterAll(() => engine.close());

const imports = `
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))`;
/** Reads the variable whose name is the input, and answers its value. */
const reads = await assemblePlugin(
  `(local $value i64) (local.set $value (call $var_get (call $input_offset)))
   (call $output_set (local.get $value) (call $length (local.get $value))) (i32.const 0)`,
  imports,
);
/** The same, and then it fails with its input as the error. */
const fails = await assemblePlugin(
  '(drop (call $var_get (call $input_offset))) (call $error_set (call $input_offset)) (i32.const 1)',
  imports,
);

describe('a variable that asks the daemon', () => {
  it('is answered over the border, with its refusals as data', async () => {
    const request = runRequest(reads, { argumentsJson: 'hotcell_call:{"op":"kv.get","payload":{"key":"k"}}' });
    expect(await engine.run(request, createTestBorder(), never)).toMatchObject({
      status: 'success',
      output: { ok: false, code: 'permission-denied' },
      usage: { hostCalls: 1 },
      recording: { crossings: [{ op: 'kv.get', payload: '{"key":"k"}' }] },
    });
  });

  it.each(['', 'text', '[]', '{"op":7}', '{"op":""}', 'null'])('ends the call when it asks for %s', async (text) => {
    const outcome = await engine.run(runRequest(reads, { argumentsJson: `hotcell_call:${text}` }), createTestBorder(), never);
    expect(outcome).toMatchObject({ status: 'error', error: { code: 'arguments-invalid' } });
  });

  it('is bounded in number and in size', async () => {
    const limits = resolveLimits({ hostCalls: 0 });
    const argumentsJson = 'hotcell_call:{"op":"kv.get","payload":{}}';
    expect(await engine.run(runRequest(reads, { argumentsJson, limits }), createTestBorder(), never)).toMatchObject({
      error: { code: 'host-calls-exceeded' },
    });
    const long = `hotcell_call:{"op":"kv.get","payload":"${'x'.repeat(16 * 1024 * 1024)}"}`;
    expect(await engine.run(runRequest(reads, { argumentsJson: long }), createTestBorder(), never)).toMatchObject({
      error: { code: 'arguments-invalid' },
    });
  });

  it('is a variable like others where the name only resembles it', async () => {
    const outcome = await engine.run(
      runRequest(reads, { argumentsJson: 'hotcell_cal:{"op":"kv.get"}' }),
      createTestBorder(),
      never,
    );
    expect(outcome).toMatchObject({ status: 'success', usage: { hostCalls: 0 } });
  });
});

describe('what a module says of the error that it ends with', () => {
  const thrown = (payload: unknown) =>
    engine.run(
      runRequest(fails, { argumentsJson: `hotcell_call:${JSON.stringify({ op: 'throw', payload })}` }),
      createTestBorder(),
      never,
    );

  it('is told with name and code, without asking the daemon', async () => {
    expect(await thrown({ name: 'RangeError', code: 'permission-denied', message: 'no' })).toMatchObject({
      status: 'error',
      error: { code: 'permission-denied', name: 'RangeError', message: 'no' },
      usage: { hostCalls: 0 },
    });
  });

  it.each(['unauthorized', 'internal', 'no-such-code', 7])('cannot claim to be a refusal of a door: %s', async (code) => {
    expect(await thrown({ code, message: 'no' })).toMatchObject({ error: { code: 'handler-threw' } });
  });

  it('is bounded, and may be nothing', async () => {
    const outcome = await thrown({ name: 'x'.repeat(100_000), message: 'y'.repeat(100_000) });
    expect(JSON.stringify(outcome).length).toBeLessThan(20_000);
    expect(await thrown(null)).toMatchObject({ error: { code: 'handler-threw' } });
  });
});
