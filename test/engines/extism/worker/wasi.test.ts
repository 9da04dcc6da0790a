import { afterAll, describe, expect, it } from 'vitest';
import { resolveLimits } from '../../../../src/config/limits.ts';
import { createExtismEngine } from '../../../../src/engines/extism/extism-engine.ts';
import { assemblePlugin, createTestBorder, runRequest } from '../wat-program.ts';

const engine = createExtismEngine({ keepWarm: 1 });
const never = new AbortController().signal;

afterAll(() => engine.close());

/** A function of WASI whose result must be `expected`. */
async function callWasi(name: string, parameters: string, call: string, expected: number) {
  const code = await assemblePlugin(
    `(if (i32.ne ${call} (i32.const ${expected})) (then unreachable)) (i32.const 0)`,
    `(import "wasi_snapshot_preview1" "${name}" (func $wasi (param ${parameters}) (result i32)))`,
  );
  return engine.run(runRequest(code, { limits: resolveLimits({ cpuMs: 5000 }) }), createTestBorder(), never);
}

describe('createWasi', () => {
  it('does not let a module send signals to the daemon', async () => {
    expect(await callWasi('proc_raise', 'i32', '(call $wasi (i32.const 9))', 52)).toMatchObject({ status: 'success' });
  });

  it('opens no file and knows no directory', async () => {
    const open =
      '(call $wasi (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0) (i64.const 1) (i64.const 1) (i32.const 0) (i32.const 0))';
    expect(await callWasi('path_open', 'i32 i32 i32 i32 i32 i64 i64 i32 i32', open, 52)).toMatchObject({ status: 'success' });
    expect(await callWasi('fd_prestat_get', 'i32 i32', '(call $wasi (i32.const 3) (i32.const 0))', 8)).toMatchObject({
      status: 'success',
    });
  });

  it('does not block the thread in a poll', async () => {
    const poll = '(call $wasi (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))';
    expect(await callWasi('poll_oneoff', 'i32 i32 i32 i32', poll, 52)).toMatchObject({ status: 'success' });
  });

  it('draws no more chance at once than a call may take', async () => {
    expect(await callWasi('random_get', 'i32 i32', '(call $wasi (i32.const 0) (i32.const 65537))', 28)).toMatchObject({
      status: 'success',
    });
  });

  it('answers a pointer outside of memory with a fault', async () => {
    const outside = '(call $wasi (i32.const -8) (i32.const 8))';
    expect(await callWasi('random_get', 'i32 i32', outside, 21)).toMatchObject({ status: 'success' });
    const clock = '(call $wasi (i32.const 0) (i64.const 0) (i32.const -1))';
    expect(await callWasi('clock_time_get', 'i32 i64 i32', clock, 21)).toMatchObject({ status: 'success' });
  });

  it('sends standard output to the log', async () => {
    const code = await assemblePlugin(
      '(call $write (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 32))',
      `(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
       (data (i32.const 0) "hello") (data (i32.const 16) "\\00\\00\\00\\00\\05\\00\\00\\00")`,
    );
    const border = createTestBorder();
    expect(await engine.run(runRequest(code), border, never)).toMatchObject({ status: 'success' });
    expect(border.lines).toMatchObject([{ level: 'info', text: 'hello' }]);
  });

  it('ends the call, not the daemon, on proc_exit', async () => {
    const code = await assemblePlugin(
      '(call $exit (i32.const 3)) (i32.const 0)',
      '(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))',
    );
    expect(await engine.run(runRequest(code), createTestBorder(), never)).toMatchObject({
      status: 'error',
      error: { code: 'handler-threw', message: expect.stringContaining('code 3') },
    });
  });
});
