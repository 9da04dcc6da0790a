import { describe, expect, it } from 'vitest';
import { createContainerPlaces } from '../../../../../src/engines/process/docker/command/container-places.ts';

const never = new AbortController().signal;
const holder = (callerId: string, unitPath = `${callerId}.ts`) => ({ callerId, unitPath, isAdmin: false });
const operator = { callerId: 'local', unitPath: 'local.ts', isAdmin: true };

describe('createContainerPlaces', () => {
  it('lets so many in, callers in turn, and each leaves once', async () => {
    const places = createContainerPlaces({ maxRunning: 2, maxWaiting: 10 });
    const first = await places.enter(holder('ann'), never);
    const second = await places.enter(holder('bob'), never);
    const order: string[] = [];
    const enter = async (callerId: string, name: string) => {
      const leave = await places.enter(holder(callerId), never);
      order.push(name);
      return leave;
    };
    const flood = ['ann-1', 'ann-2', 'ann-3'].map((name) => enter('ann', name));
    const late = enter('carl', 'carl-1');
    first();
    first();
    const firstOfFlood = await flood[0];
    expect(order).toEqual(['ann-1']);
    second();
    // One caller has one of two places: the other is for somebody else.
    const carl = await late;
    expect(order).toEqual(['ann-1', 'carl-1']);
    firstOfFlood?.();
    const secondOfFlood = await flood[1];
    carl();
    secondOfFlood?.();
    (await flood[2])?.();
    expect(order).toEqual(['ann-1', 'carl-1', 'ann-2', 'ann-3']);
  });

  it('keeps places for admins when the others have all', async () => {
    const places = createContainerPlaces({ maxRunning: 4, maxWaiting: 1 });
    for (const callerId of ['ann', 'ann', 'bob', 'bob']) await places.enter(holder(callerId, `${callerId}.ts`), never);
    const ending = new AbortController();
    const waits = places.enter(holder('carl'), ending.signal);
    await expect(places.enter(holder('dora'), never)).rejects.toMatchObject({ code: 'queue-full' });
    const leave = await places.enter(operator, never);
    // One more may wait for the reserve.
    const second = places.enter(operator, never);
    await expect(places.enter(operator, never)).rejects.toMatchObject({ code: 'queue-full' });
    leave();
    (await second)();
    ending.abort();
    await expect(waits).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('refuses those beyond the bound by name, and keeps no place for whoever gave up', async () => {
    const places = createContainerPlaces({ maxRunning: 1, maxWaiting: 1 });
    const leave = await places.enter(holder('ann'), never);
    const ending = new AbortController();
    const givesUp = places.enter(holder('ann'), ending.signal);
    const message = '1 calls of this caller wait for a container already; at most 1 may wait.';
    await expect(places.enter(holder('ann'), never)).rejects.toMatchObject({ code: 'queue-full', message });
    ending.abort();
    await expect(givesUp).rejects.toMatchObject({ code: 'cancelled' });
    const next = places.enter(holder('ann'), never);
    leave();
    (await next)();
    // A place that came to somebody is not given up by a late end of the call.
    (await places.enter(holder('ann'), never))();
    await expect(places.enter(holder('ann'), AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
    (await places.enter(holder('ann'), never))();
  });
});
