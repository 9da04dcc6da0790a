import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sideEffectKeyOf } from '../../../src/calls/accept/idempotency.ts';
import { ann, bob, type CallingHouse, openHouse } from '../../tools/calling-house.ts';

const flags = {
  isResearch: false,
  isSideEffect: true,
  isDeep: false,
  isDangerous: false,
  isElevated: false,
  isParallelSafe: true,
};
const config = (sideEffectMs: number) => ({ keepMs: 3_600_000, sideEffectMs });

let house: CallingHouse;
let gate: PromiseWithResolvers<void>;
const clock = { ms: Date.now() };
beforeAll(async () => {
  gate = Promise.withResolvers();
  house = await openHouse({
    answer: async () => gate.promise.then(() => ({ ok: true, payload: '"open"' })),
    idempotency: config(60_000),
    parts: { now: () => clock.ms },
  });
  const tool = { flags };
  await house.publish('sends', '{ handler: () => Math.random() }', { tool });
  await house.publish('fails', '{ handler: () => { throw new Error(String(Math.random())) } }', { tool });
  await house.publish('waits', '{ handler: async (args, context) => context.kv.get("gate") }', { tool });
  await house.publish('reads', '{ handler: () => Math.random() }');
});
afterAll(() => house.close());

const call = (ref: string, more: object = {}) => house.caller.call({ ref, arguments: { to: 'a' }, caller: ann, ...more });

describe('a tool marked isSideEffect', () => {
  it('does the same call once within the window, and answers the others with the first answer', async () => {
    const first = await call('sends');
    expect(await call('sends')).toEqual({ ...first, replayed: true });
    clock.ms += 59_000;
    expect(await call('sends')).toMatchObject({ executionId: first.executionId, replayed: true });
    clock.ms += 2_000;
    expect((await call('sends')).executionId).not.toBe(first.executionId);
  });

  it.each([
    ['other arguments', { arguments: { to: 'b' } }],
    ['another session', { session: 'other' }],
    ['another caller', { caller: bob }],
    ['a key of its own', { idempotencyKey: 'again' }],
  ])('does it again with %s', async (_name, more) => {
    const first = await call('sends');
    const other = await call('sends', more);
    expect(other.executionId).not.toBe(first.executionId);
    expect(other.replayed).toBeUndefined();
  });

  it('does again what failed', async () => {
    const first = await call('fails');
    const second = await call('fails');
    expect([first.status, second.status, second.replayed]).toEqual(['error', 'error', undefined]);
    expect(second.executionId).not.toBe(first.executionId);
  });

  it('refuses the same call while the first runs, and answers it afterwards', async () => {
    const first = call('waits');
    await expect(call('waits')).rejects.toMatchObject({ code: 'idempotency-in-progress', status: 409 });
    gate.resolve();
    expect((await first).status).toBe('success');
    expect(await call('waits')).toMatchObject({ output: 'open', replayed: true });
  });

  it('does not show its derived key in the record', async () => {
    const { executionId } = await call('sends', { session: 'shown' });
    expect(house.reader.get(executionId, ann).idempotencyKey).toBeUndefined();
  });

  it('is called as often as it is asked where the window is 0', async () => {
    const open = await openHouse({ idempotency: config(0) });
    await open.publish('sends', '{ handler: () => 1 }', { tool: { flags } });
    const once = () => open.caller.call({ ref: 'sends', arguments: {}, caller: ann });
    expect((await once()).executionId).not.toBe((await once()).executionId);
    await open.close();
  });
});

describe('a tool that is not marked', () => {
  it('is called as often as it is asked', async () => {
    const first = await call('reads');
    expect((await call('reads')).executionId).not.toBe(first.executionId);
  });
});

describe('sideEffectKeyOf', () => {
  it('does not depend on the order of the arguments, and gives up on nesting without end', () => {
    const entry = house.registry.resolve('sends');
    const keyOf = (args: unknown) => sideEffectKeyOf(entry, { session: 's', arguments: args });
    expect(keyOf({ a: 1, b: 2 })).toBe(keyOf({ b: 2, a: 1 }));
    let deep: unknown = 1;
    for (let n = 0; n < 100_000; n++) deep = [deep];
    expect(keyOf(deep)).toBeNull();
  });
});
