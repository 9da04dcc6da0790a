import { afterEach, describe, expect, it } from 'vitest';
import { admin, ann, bob, type CallingHouse, openHouse } from './calling-house.ts';

let house: CallingHouse;
afterEach(() => house.close());

const waits = '{ handler: (args, context) => context.kv.get("gate") }';

describe('limits of the queue', () => {
  it('refuses beyond the bound of all and of one caller', async () => {
    const gate = Promise.withResolvers<void>();
    house = await openHouse({
      queue: { maxRunning: 1, maxPending: 5, maxPendingPerCaller: 3 },
      answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })),
    });
    await house.publish('waits', waits);
    const call = (caller = ann) => house.caller.call({ ref: 'waits', arguments: {}, caller });
    const accepted = [call(), call(), call(), call()];
    await expect(call()).rejects.toMatchObject({
      code: 'queue-full',
      status: 429,
      message: expect.stringContaining('of this caller'),
    });
    accepted.push(call(bob), call(bob));
    await expect(call(bob)).rejects.toMatchObject({ code: 'queue-full', message: '5 calls wait already; at most 5 may wait.' });
    gate.resolve();
    expect((await Promise.all(accepted)).every(({ status }) => status === 'success')).toBe(true);
    expect(house.leases.open).toBe(0);
  });

  it('carries 5000 pending calls', async () => {
    const gate = Promise.withResolvers<void>();
    house = await openHouse({ queue: { maxRunning: 1 }, answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })) });
    await house.publish('waits', waits);
    await house.publish('quick', '{ handler: () => 1 }');
    const first = house.caller.call({ ref: 'waits', arguments: {}, caller: ann });
    const rest = Array.from({ length: 5000 }, (_, index) => {
      const caller = { id: `caller-${index % 100}`, role: 'caller' } as const;
      return house.caller.call({ ref: 'quick', arguments: { index }, caller });
    });
    expect(house.caller.load()).toEqual({ pending: 5000, running: 1 });
    gate.resolve();
    const answers = await Promise.all([first, ...rest]);
    expect(answers.every(({ status }) => status === 'success')).toBe(true);
    expect(house.caller.load()).toEqual({ pending: 0, running: 0 });
  });

  it('refuses all calls while tools are switched off', async () => {
    house = await openHouse({ enabled: false });
    await house.publish('quick', '{ handler: () => 1 }');
    const refused = house.caller.call({ ref: 'quick', arguments: {}, caller: admin });
    await expect(refused).rejects.toMatchObject({ code: 'tools-disabled', status: 503 });
  });

  it('drains: refuses new calls, waits for the running ones, cancels what is left', async () => {
    const gate = Promise.withResolvers<void>();
    house = await openHouse({
      queue: { maxRunning: 2 },
      answer: ({ payload }) =>
        payload.includes('never') ? new Promise(() => {}) : gate.promise.then(() => ({ ok: true, payload: '1' })),
    });
    await house.publish('waits', '{ handler: (args, context) => context.kv.get(args.key) }');
    const call = (key: string) => house.caller.call({ ref: 'waits', arguments: { key }, caller: ann });
    const [ends, hangs, pending] = [call('gate'), call('never'), call('never again')];
    const drained = house.caller.drain(200);
    await expect(call('late')).rejects.toMatchObject({ code: 'shutting-down', status: 503 });
    gate.resolve();
    await drained;
    expect([(await ends).status, (await hangs).status, (await pending).status]).toEqual(['success', 'cancelled', 'cancelled']);
    expect(house.caller.load()).toEqual({ pending: 0, running: 0 });
  });
});
