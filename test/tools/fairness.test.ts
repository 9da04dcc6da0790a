import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { createFairQueue } from '../../src/concurrency/fair-queue.ts';
import { admin, ann, bob, type CallingHouse, openHouse } from './calling-house.ts';

describe('createFairQueue', () => {
  const item = (callerId: string, unitPath: string, number: number) => ({ callerId, unitPath, number });
  const drainAll = (queue: ReturnType<typeof createFairQueue<ReturnType<typeof item>>>) => {
    const taken: string[] = [];
    for (let next = queue.take(() => 'yes'); next !== undefined; next = queue.take(() => 'yes')) {
      taken.push(`${next.callerId}${next.unitPath}${next.number}`);
    }
    return taken;
  };

  it('goes round over callers, then over the plugins of a caller', () => {
    const queue = createFairQueue<ReturnType<typeof item>>();
    for (let number = 1; number <= 3; number++) queue.push(item('a', 'p', number));
    queue.push(item('a', 'q', 1));
    queue.push(item('b', 'p', 1));
    expect(drainAll(queue)).toEqual(['ap1', 'bp1', 'aq1', 'ap2', 'ap3']);
  });

  it('passes over what may not run, and falls back to what is not preferred', () => {
    const queue = createFairQueue<ReturnType<typeof item>>();
    for (const plugin of ['p', 'q', 'r']) queue.push(item('a', plugin, 1));
    const judge = ({ unitPath }: { unitPath: string }) => (unitPath === 'p' ? 'no' : unitPath === 'q' ? 'fallback' : 'yes');
    expect([queue.take(judge)?.unitPath, queue.take(judge)?.unitPath, queue.take(judge)]).toEqual(['r', 'q', undefined]);
    expect(queue.size()).toBe(1);
  });

  it('forgets what is removed', () => {
    const queue = createFairQueue<ReturnType<typeof item>>();
    const places = [1, 2, 3].map((number) => queue.push(item('a', 'p', number)));
    for (const place of places.slice(0, 2)) queue.remove(place);
    expect([drainAll(queue), queue.size()]).toEqual([['ap3'], 0]);
  });
});

describe('fairness of calls', () => {
  let house: CallingHouse;
  beforeAll(async () => {
    house = await openHouse();
    await house.publish('flood', '{ handler: () => { let sum = 0; for (let i = 0; i < 4000; i++) sum += i; return sum; } }');
    await house.publish('neighbour', '{ handler: () => 1 }');
    await house.publish('spins', '{ handler: () => { for (;;); } }', { manifest: { limits: { cpuMs: 100 } } });
    await house.publish('waits', '{ handler: (args, context) => context.kv.get("gate") }');
  });
  afterAll(() => house.close());

  const call = (ref: string, caller = ann) => house.caller.call({ ref, arguments: {}, caller });

  it('lets another caller in before the flood is over', async () => {
    const order: string[] = [];
    const flood = Array.from({ length: 400 }, () => call('flood').then(() => order.push('flood')));
    await call('neighbour', bob).then(() => order.push('neighbour'));
    await Promise.all(flood);
    expect(order.indexOf('neighbour')).toBeLessThan(50);
  });

  it('lets another plugin of the same caller in before the flood is over', async () => {
    const order: string[] = [];
    const flood = Array.from({ length: 400 }, () => call('flood').then(() => order.push('flood')));
    await call('neighbour').then(() => order.push('neighbour'));
    await Promise.all(flood);
    expect(order.indexOf('neighbour')).toBeLessThan(50);
  });

  it('keeps a slot from a plugin that would spin in all of them', async () => {
    const ended: string[] = [];
    const spinning = Array.from({ length: 8 }, () => call('spins').then(({ status }) => ended.push(status)));
    const { running } = house.caller.load();
    expect(running).toBeLessThan(6);
    expect(await call('neighbour', bob)).toMatchObject({ status: 'success' });
    await Promise.all(spinning);
    expect(ended).toEqual(Array(8).fill('timeout'));
  });

  it('gives the slots of calls that their engine says are waiting to others', async () => {
    const sleeping = await openHouse();
    await sleeping.publish('sleeps', '{ handler: () => new Promise((resolve) => setTimeout(resolve, 1500, 1)) }');
    const calls = Array.from({ length: 100 }, () => sleeping.caller.call({ ref: 'sleeps', arguments: {}, caller: ann }));
    await expect.poll(() => sleeping.caller.load(), { timeout: 20_000 }).toEqual({ pending: 0, running: 100 });
    expect((await Promise.all(calls)).map(({ output }) => output)).toEqual(calls.map(() => 1));
    await sleeping.close();
  });

  it('gives the slots of calls that wait at the border to others', async () => {
    const gate = Promise.withResolvers<void>();
    const waiting = await openHouse({ answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })) });
    await waiting.publish('waits', '{ handler: (args, context) => context.kv.get("gate") }');
    await waiting.publish('neighbour', '{ handler: () => 1 }');
    const parked = Array.from({ length: 500 }, () => waiting.caller.call({ ref: 'waits', arguments: {}, caller: ann }));
    await expect.poll(() => waiting.caller.load().running, { timeout: 20_000 }).toBe(500);
    expect(await waiting.caller.call({ ref: 'neighbour', arguments: {}, caller: admin })).toMatchObject({ output: 1 });
    gate.resolve();
    expect((await Promise.all(parked)).every(({ status }) => status === 'success')).toBe(true);
    await waiting.close();
  });

  // Wakes all at once, and every slice then takes long: only threads and turns of their own let others in.
  const wakes =
    '{ handler: async (args, context) => { await context.kv.get("gate"); const until = Date.now() + 50; while (Date.now() < until); return 1; } }';

  it('lets others in while many calls wake and hold every thread', async () => {
    const gate = Promise.withResolvers<void>();
    const crowd = await openHouse({
      answer: (_request, { caller }) =>
        (caller === 'ann' ? gate.promise : Promise.resolve()).then(() => ({ ok: true, payload: '1' })),
    });
    await crowd.publish('burns', wakes);
    await crowd.publish('neighbour', '{ handler: () => 1 }');
    let ended = 0;
    const first = Promise.withResolvers<void>();
    const burning = Array.from({ length: 40 }, async () => {
      const { status } = await crowd.caller.call({ ref: 'burns', arguments: {}, caller: ann });
      ended++;
      first.resolve();
      return status;
    });
    await expect.poll(() => crowd.caller.load().running, { timeout: 20_000 }).toBe(40);
    gate.resolve();
    await first.promise;
    const before = ended;
    const others: ReadonlyArray<readonly [who: string, caller: Caller, ref: string]> = [
      ['another caller', bob, 'neighbour'],
      ['another caller of the same plugin', { id: 'carol', role: 'caller' }, 'burns'],
      ['another plugin of the same caller', ann, 'neighbour'],
    ];
    const passed = others.map(async ([who, caller, ref]) => {
      expect(await crowd.caller.call({ ref, arguments: {}, caller }), who).toMatchObject({ output: 1 });
      expect(ended - before, who).toBeLessThan(20);
    });
    await Promise.all(passed);
    expect(new Set(await Promise.all(burning))).toEqual(new Set(['success']));
    await crowd.close();
  });

  it('does not let one caller fill the place for waiting calls', async () => {
    const gate = Promise.withResolvers<void>();
    const full = await openHouse({
      queue: { maxRunning: 50 },
      answer: () => gate.promise.then(() => ({ ok: true, payload: '1' })),
    });
    await full.publish('waits', '{ handler: (args, context) => context.kv.get("gate") }');
    for (let n = 0; n < 12; n++) await full.publish(`waits-${n}`, '{ handler: (args, context) => context.kv.get("gate") }');
    await full.publish('neighbour', '{ handler: () => 1 }');
    const refs = ['waits', ...Array.from({ length: 12 }, (_, n) => `waits-${n}`)];
    const waiting = Array.from({ length: 130 }, (_, n) =>
      full.caller.call({ ref: refs[n % refs.length] ?? '', arguments: {}, caller: ann }),
    );
    await expect.poll(() => full.caller.load().running, { timeout: 20_000 }).toBe(45);
    expect(await full.caller.call({ ref: 'neighbour', arguments: {}, caller: bob })).toMatchObject({ output: 1 });
    gate.resolve();
    expect((await Promise.all(waiting)).every(({ status }) => status === 'success')).toBe(true);
    await full.close();
  });
});
