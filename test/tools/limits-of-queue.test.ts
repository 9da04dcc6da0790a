import { afterEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
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

  it('gives the places of cancelled calls that waited to others', async () => {
    const gate = Promise.withResolvers<void>();
    house = await openHouse({
      queue: { maxRunning: 1, maxPending: 5, maxPendingPerCaller: 3 },
      answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })),
      parts: { runnableSlots: 1 },
    });
    await house.publish('waits', waits);
    const ids: string[] = [];
    const call = () => house.caller.call({ ref: 'waits', arguments: {}, caller: ann, onAccepted: (id: string) => ids.push(id) });
    const first = call();
    for (let round = 0; round < 2; round++) {
      const waiting = [call(), call(), call()];
      for (const id of ids.slice(-3)) house.caller.cancel(id, ann);
      expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
      expect(house.caller.load()).toEqual({ pending: 0, running: 1 });
    }
    gate.resolve();
    expect((await first).status).toBe('success');
  });

  it('keeps places for admins: of those that wait, and of those that run', async () => {
    const gate = Promise.withResolvers<void>();
    house = await openHouse({
      queue: { maxRunning: 4, maxPending: 6, maxPendingPerCaller: 6 },
      answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })),
    });
    await house.publish('waits', waits);
    await house.publish('quick', '{ handler: () => 1 }');
    const call = (ref: string, caller: Caller) => house.caller.call({ ref, arguments: {}, caller });
    const accepted = Array.from({ length: 4 }, () => call('waits', ann));
    await expect.poll(() => house.caller.load(), { timeout: 20_000 }).toEqual({ pending: 0, running: 4 });
    accepted.push(...Array.from({ length: 6 }, (_, n) => call('waits', n < 3 ? ann : bob)));
    await expect(call('quick', bob)).rejects.toMatchObject({
      code: 'queue-full',
      message: '6 calls wait already; at most 6 may wait.',
      fix: expect.stringContaining('queue.maxPending'),
    });
    // Others wait before it, and everything that they may have is held.
    expect(await call('quick', admin)).toMatchObject({ output: 1 });
    gate.resolve();
    expect((await Promise.all(accepted)).every(({ status }) => status === 'success')).toBe(true);
  });

  it('leaves room to other plugins, though many callers share one', async () => {
    const gate = Promise.withResolvers<void>();
    house = await openHouse({
      queue: { maxRunning: 1, maxPending: 40, maxPendingPerCaller: 40 },
      answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })),
    });
    await house.publish('waits', waits);
    await house.publish('quick', '{ handler: () => 1 }');
    const call = (ref: string, n: number) =>
      house.caller.call({ ref, arguments: {}, caller: { id: `caller-${n}`, role: 'caller' } });
    const accepted = Array.from({ length: 39 }, (_, n) => call('waits', n));
    const message = '38 calls of this plugin wait already; at most 38 of one plugin may wait.';
    await expect(call('waits', 39)).rejects.toMatchObject({ code: 'queue-full', message });
    accepted.push(call('quick', 40));
    gate.resolve();
    expect((await Promise.all(accepted)).every(({ status }) => status === 'success')).toBe(true);
  });

  it('counts callers without a token as one', async () => {
    const gate = Promise.withResolvers<void>();
    house = await openHouse({
      queue: { maxRunning: 20, maxPending: 50, maxPendingPerCaller: 3 },
      answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })),
    });
    await house.publish('waits', waits);
    const stranger = (n: number): Caller => ({ id: `anonymous:${n}`, role: 'caller', isAnonymous: true });
    const call = (caller: Caller) => house.caller.call({ ref: 'waits', arguments: {}, caller });
    const accepted: Array<ReturnType<typeof call>> = [];
    for (let n = 0; n < 21; n++) {
      accepted.push(call(stranger(n)));
      await expect.poll(() => house.caller.load().running, { timeout: 20_000 }).toBe(Math.min(n + 1, 18));
    }
    const message = '3 calls of this caller wait already; at most 3 of one caller may wait.';
    await expect(call(stranger(21))).rejects.toMatchObject({ code: 'queue-full', message });
    accepted.push(call(ann));
    await expect.poll(() => house.caller.load(), { timeout: 20_000 }).toEqual({ pending: 3, running: 19 });
    gate.resolve();
    expect((await Promise.all(accepted)).every(({ status }) => status === 'success')).toBe(true);
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
