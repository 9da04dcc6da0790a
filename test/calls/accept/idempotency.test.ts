import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { createIdempotency } from '../../../src/calls/accept/idempotency.ts';
import { recoverInterrupted } from '../../../src/calls/record/execution-records.ts';
import { openStore } from '../../../src/store/open.ts';
import { copyAsLeft, temporaryStore } from '../../store/temporary-store.ts';
import { ann, bob, type CallingHouse, openHouse } from '../../tools/calling-house.ts';

let house: CallingHouse;
let open: PromiseWithResolvers<void>;
/** Hears of each effect of a call. */
let noteEffect = (): void => {};
beforeAll(async () => {
  open = Promise.withResolvers();
  const answer = async () => {
    noteEffect();
    return open.promise.then(() => ({ ok: true, payload: '"open"' }) as const);
  };
  house = await openHouse({ answer });
  await house.publish('draws', '{ handler: (args) => [Math.random(), args] }');
  await house.publish('waits', '{ handler: async (args, context) => context.kv.get("gate") }');
  await house.publish('throws', '{ handler: () => { throw new Error(String(Math.random())) } }');
  await house.publish('picky', '{ handler: () => 1 }', { tool: { input: { type: 'object', required: ['a'] } } });
});
afterAll(() => house.close());

function call(tool: string, key: string, given: unknown = {}, caller = ann) {
  return house.caller.call({ ref: tool, arguments: given, caller, idempotencyKey: key });
}

describe('an idempotency key', () => {
  it('is executed once; later calls get the same answer', async () => {
    const first = await call('draws', 'k1', { a: 1, b: 2 });
    const later = await call('draws', 'k1', { b: 2, a: 1 });
    expect(later).toEqual({ ...first, replayed: true });
    expect(house.reader.list({ tool: 'draws' }, ann).total).toBe(1);
  });

  it('replays failures too', async () => {
    const first = await call('throws', 'k1');
    expect(await call('throws', 'k1')).toEqual({ ...first, replayed: true });
  });

  it('is refused with other arguments', async () => {
    await call('draws', 'k2', { a: 1 });
    await expect(call('draws', 'k2', { a: 2 })).rejects.toMatchObject({ code: 'idempotency-mismatch', status: 409 });
  });

  it('is refused while its first call runs', async () => {
    const first = call('waits', 'k1');
    await expect(call('waits', 'k1')).rejects.toMatchObject({ code: 'idempotency-in-progress', status: 409 });
    open.resolve();
    expect(await first).toMatchObject({ status: 'success', output: 'open' });
    expect(await call('waits', 'k1')).toMatchObject({ output: 'open', replayed: true });
  });

  it('belongs to one caller and one tool', async () => {
    const answers = await Promise.all([call('draws', 'k3'), call('draws', 'k3', {}, bob), call('throws', 'k3')]);
    expect(answers.some(({ replayed }) => replayed === true)).toBe(false);
  });

  it('executes once among many calls at the same time', async () => {
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => call('draws', 'k4')));
    const executed = results.filter((result) => result.status === 'fulfilled' && result.value.replayed !== true);
    expect(executed).toHaveLength(1);
  });

  it('stays free when the call is refused before it runs', async () => {
    await expect(call('picky', 'k5', {})).rejects.toMatchObject({ code: 'arguments-invalid' });
    expect(await call('picky', 'k5', { a: 1 })).toMatchObject({ status: 'success' });
  });

  it('must be a short text', async () => {
    for (const key of ['', 'x'.repeat(300)]) await expect(call('draws', key)).rejects.toMatchObject({ code: 'body-invalid' });
  });

  it('is refused when as many are remembered as there may be, and a known one is answered all the same', () => {
    const bounds = { perCaller: 2, inAll: 4, reserve: 1 };
    const store = temporaryStore();
    const started = Date.now();
    let atMs = started;
    const open = () => createIdempotency({ store, keepMs: 1000, now: () => atMs, bounds });
    const use = (key: string, caller: Pick<Caller, 'id' | 'role' | 'isAnonymous'>, more: object = {}) => {
      atMs++;
      return { caller, tool: 'a#a', key, arguments: {}, executionId: `exe_${atMs}`, ...more };
    };
    const keys = open();
    for (const key of ['1', '2']) expect(keys.claim(use(key, ann))).toBeUndefined();
    expect(() => keys.claim(use('3', ann))).toThrow('2 idempotency keys of one caller are remembered');
    expect(() => keys.claim(use('1', ann))).toThrow('was used before');
    keys.release(use('2', ann));
    expect(keys.claim(use('2', ann))).toBeUndefined();
    expect(keys.claim(use('1', bob))).toBeUndefined();
    expect(() => keys.claim(use('2', bob))).toThrow('3 idempotency keys are remembered');
    expect(keys.claim(use('1', { id: 'local', role: 'admin' }))).toBeUndefined();
    expect(() => keys.claim(use('2', { id: 'local', role: 'admin' }))).toThrow('4 idempotency keys are remembered');
    // Who has no token has no second call: nothing is kept for it.
    for (let n = 0; n < 9; n++) {
      expect(keys.claim(use(`${n}`, { id: `anonymous:${n}`, role: 'caller', isAnonymous: true }))).toBeUndefined();
    }
    expect(() => open().claim(use('2', bob))).toThrow('3 idempotency keys are remembered');
    atMs += 2000;
    expect(open().claim(use('3', ann))).toBeUndefined();
    expect([...store.idempotency.countByCaller()]).toEqual([['ann', 1]]);
  });

  it('that nobody chose is forgotten soon after it counts', () => {
    const store = temporaryStore();
    const dayMs = 86_400_000;
    let atMs = 2 * dayMs;
    const open = () => createIdempotency({ store, keepMs: dayMs, now: () => atMs });
    const use = { caller: ann, tool: 'a#a', arguments: {}, executionId: 'exe_1' };
    open().claim({ ...use, key: 'effect:1', withinMs: 60_000 });
    open().claim({ ...use, key: 'chosen' });
    atMs += 3_700_000;
    open().claim({ ...use, key: 'next' });
    expect([...store.idempotency.countByCaller()]).toEqual([['ann', 2]]);
    expect(store.idempotency.release('ann', 'a#a', 'effect:1')).toBe(false);
  });

  it('of a call that the stop of the daemon interrupted is answered with that, and is not executed again', async () => {
    const { executionId } = await call('draws', 'k6');
    const row = house.store.executions.get(executionId);
    if (row === undefined) throw new Error('the row is missing');
    house.store.executions.update({ ...row, status: 'running', endedAtMs: null, durationMs: null, outputJson: null });
    expect(recoverInterrupted(house.store, Date.now())).toBe(1);
    expect(await call('draws', 'k6')).toMatchObject({
      status: 'error',
      replayed: true,
      error: { code: 'interrupted', fix: 'Check what the call did, then use a new key.' },
    });
  });

  it('stays taken by a call that a kill ended right after its first effect', async () => {
    open.resolve();
    let dataDir = '';
    noteEffect = () => {
      dataDir = copyAsLeft(house.dataDir);
    };
    const { executionId } = await call('waits', 'k7');
    const store = openStore({ dataDir });
    onTestFinished(() => store.close());
    expect(recoverInterrupted(store, 1)).toBe(1);
    expect(store.executions.get(executionId)).toMatchObject({ status: 'error', idempotencyKey: 'k7' });
    const use = { caller: ann, tool: '/plugins/waits@1.0.0.ts#waits', key: 'k7', arguments: {}, executionId: 'exe_again' };
    expect(createIdempotency({ store, keepMs: 3_600_000, now: Date.now }).claim(use)).toMatchObject({
      executionId,
      error: { code: 'interrupted' },
    });
  });
});
