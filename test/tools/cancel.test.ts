import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, ann, type CallingHouse, openHouse, waitForEvent } from './calling-house.ts';

let house: CallingHouse;
beforeAll(async () => {
  house = await openHouse({ queue: { maxRunning: 1 }, answer: () => new Promise(() => {}) });
  await house.publish('waits', '{ handler: async (args, context) => context.kv.get("never") }');
  await house.publish('spins', '{ handler: () => { for (;;); } }');
  await house.publish('quick', '{ handler: () => 1 }');
});
afterAll(() => house.close());

async function startCall(tool: string, signal?: AbortSignal) {
  house.seen.length = 0;
  const answer = house.caller.call({ ref: tool, arguments: {}, caller: ann, ...(signal && { signal }) });
  const { subject } = await waitForEvent(house, ({ type }) => type === 'execution-start');
  return { id: subject, answer };
}

describe('cancel', () => {
  it.each(['waits', 'spins'])('ends a running call that %s', async (tool) => {
    const { id, answer } = await startCall(tool);
    expect(house.caller.cancel(id, ann)).toBe(true);
    expect(await answer).toMatchObject({ executionId: id, status: 'cancelled', error: { code: 'cancelled' } });
    expect(house.reader.get(id, ann).status).toBe('cancelled');
    expect([house.leases.open, house.caller.load()]).toEqual([0, { pending: 0, running: 0 }]);
  });

  it('takes a pending call out of the queue, and the next one runs', async () => {
    const first = await startCall('waits');
    const pending = house.caller.call({ ref: 'quick', arguments: { mark: 'pending' }, caller: ann });
    const last = house.caller.call({ ref: 'quick', arguments: {}, caller: ann });
    const [row] = house.reader.list({ status: 'pending' }, ann).items.slice(-1);
    expect(house.caller.load()).toEqual({ pending: 2, running: 1 });
    expect(house.caller.cancel(row?.id ?? '', ann)).toBe(true);
    expect(await pending).toMatchObject({
      status: 'cancelled',
      error: { message: expect.stringContaining('waited for its turn') },
    });
    house.caller.cancel(first.id, admin);
    expect(await last).toMatchObject({ status: 'success', output: 1 });
  });

  it('follows the signal of the caller', async () => {
    const controller = new AbortController();
    const { answer } = await startCall('waits', controller.signal);
    controller.abort();
    expect(await answer).toMatchObject({ status: 'cancelled' });
    const late = house.caller.call({ ref: 'quick', arguments: {}, caller: ann, signal: controller.signal });
    await expect(late).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('is false for a call that has ended, and knows no others', async () => {
    const { executionId } = await house.caller.call({ ref: 'quick', arguments: {}, caller: ann });
    expect(house.caller.cancel(executionId, ann)).toBe(false);
    expect(() => house.caller.cancel('exe_none', ann)).toThrow(expect.objectContaining({ code: 'execution-unknown' }));
  });

  it('counts the time in the queue towards the time-out', async () => {
    const first = await startCall('waits');
    const pending = await house.caller.call({ ref: 'quick', arguments: {}, caller: ann, timeoutMs: 30 });
    expect(pending).toMatchObject({ status: 'timeout', error: { code: 'time-exceeded' } });
    expect(house.reader.get(pending.executionId, ann)).not.toHaveProperty('startedAtMs');
    house.caller.cancel(first.id, ann);
    await first.answer;
  });

  it('works between two attempts', async () => {
    await house.publish('flaky', '{ handler: () => { throw new Error("no") } }', { tool: { idempotent: true, retries: 5 } });
    const { id, answer } = await startCall('flaky');
    await expect.poll(() => house.caller.load().running).toBe(0);
    expect(house.caller.cancel(id, ann)).toBe(true);
    expect(await answer).toMatchObject({ status: 'cancelled' });
  });

  it('ends one of several calls that wait for a shared cell', async () => {
    await house.publish('cell', '{ handler: (args, context) => args.wait ? context.kv.get("never") : 1 }', {
      manifest: { isolation: 'session' },
    });
    house.seen.length = 0;
    const call = (wait: boolean) => house.caller.call({ ref: 'cell', arguments: { wait }, caller: ann });
    const [first, second, third] = [call(true), call(false), call(false)];
    const { subject } = await waitForEvent(house, ({ type }) => type === 'execution-start');
    const waiting = house.reader.list({ status: 'pending' }, ann).items;
    house.caller.cancel(waiting.at(-1)?.id ?? '', ann);
    expect(await second).toMatchObject({
      status: 'cancelled',
      error: { message: expect.stringContaining('before it in its cell') },
    });
    house.caller.cancel(subject, ann);
    expect([(await first).status, (await third).output]).toEqual(['cancelled', 1]);
  });
});
