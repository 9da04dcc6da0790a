import { describe, expect, it } from 'vitest';
import type { BorderAnswer, BorderHost } from '../../../src/border/border.ts';
import { sharePlaces } from '../../../src/config/quotas/quota.ts';
import { createExtismEngine } from '../../../src/engines/extism/extism-engine.ts';
import { assemblePlugin, createTestBorder, runRequest } from './wat-program.ts';

const never = new AbortController().signal;
const ofHost = (name: string, type: string) => `(import "extism:host/env" "${name}" (func $${name} ${type}))`;
const parentImports = `${ofHost('input_offset', '(result i64)')}
  (import "extism:host/user" "hotcell_call" (func $ask (param i64) (result i64)))
  ${ofHost('length', '(param i64) (result i64)')} ${ofHost('output_set', '(param i64 i64)')}`;
const parent = `(local $answer i64) (local.set $answer (call $ask (call $input_offset)))
  (call $output_set (local.get $answer) (call $length (local.get $answer))) (i32.const 0)`;
const argumentsJson = JSON.stringify({ op: 'tools.call', payload: { name: 'child', arguments: {} } });

/** A border whose tools are called by `onCall`. */
const borderOf = (onCall: () => Promise<BorderAnswer>): BorderHost => ({ ...createTestBorder(), answer: onCall });

describe('a module that calls a module', () => {
  it('leaves its place to the one that it waits for, six levels deep with a single thread', async () => {
    const engine = createExtismEngine({ places: sharePlaces(1), keepWarm: 1 });
    const code = await assemblePlugin(parent, parentImports);
    const run = async (depth: number): Promise<BorderAnswer> => {
      if (depth === 0) return { ok: true, payload: '"the bottom"' };
      const outcome = await engine.run(
        runRequest(code, { argumentsJson }),
        borderOf(() => run(depth - 1)),
        never,
      );
      return outcome.status === 'success'
        ? { ok: true, payload: JSON.stringify(outcome.output) }
        : { ok: false, code: outcome.error.code, message: outcome.error.message };
    };
    try {
      expect(await run(6)).toMatchObject({ ok: true, payload: expect.stringContaining('the bottom') });
    } finally {
      await engine.close();
    }
  });

  it('is refused when too many threads sleep already, and none of these is harmed', async () => {
    const engine = createExtismEngine({ aside: { ...sharePlaces(10), perCaller: 3 }, keepWarm: 1 });
    const code = await assemblePlugin(parent, parentImports);
    const released = Promise.withResolvers<void>();
    let asleep = 0;
    const start = () =>
      engine.run(
        runRequest(code, { argumentsJson }),
        borderOf(async () => {
          asleep += 1;
          await released.promise;
          return { ok: true, payload: '"awake"' };
        }),
        never,
      );
    try {
      const sleepers = [start(), start(), start()];
      await expect.poll(() => asleep, { timeout: 10_000 }).toBe(3);
      expect(await start()).toMatchObject({ status: 'success', output: { ok: false, code: 'queue-full' } });
      released.resolve();
      for (const outcome of await Promise.all(sleepers)) {
        expect(outcome).toMatchObject({ status: 'success', output: { ok: true, payload: 'awake' } });
      }
    } finally {
      await engine.close();
    }
  });
});
