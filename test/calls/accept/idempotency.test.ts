import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoverInterrupted } from '../../../src/calls/record/execution-records.ts';
import { ann, bob, type CallingHouse, openHouse } from '../../tools/calling-house.ts';

let house: CallingHouse;
let open: PromiseWithResolvers<void>;
beforeAll(async () => {
  open = Promise.withResolvers();
  house = await openHouse({ answer: async () => open.promise.then(() => ({ ok: true, payload: '"open"' })) });
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
});
