import { describe, expect, it } from 'vitest';
import { createTurnstile } from '../../../../src/engines/process/docker/turnstile.ts';

const never = new AbortController().signal;

describe('createTurnstile', () => {
  it('lets so many in, the others in order, and each leaves once', async () => {
    const turnstile = createTurnstile({ most: 2, mostWaiting: 10 });
    const [first, second] = await Promise.all([turnstile.enter(never), turnstile.enter(never)]);
    const order: number[] = [];
    const waiting = [3, 4].map((number) =>
      turnstile.enter(never).then((leave) => {
        order.push(number);
        return leave;
      }),
    );
    first?.();
    first?.();
    const third = await waiting[0];
    expect(order).toEqual([3]);
    second?.();
    await waiting[1];
    third?.();
    expect(order).toEqual([3, 4]);
  });

  it('refuses those beyond the bound, and keeps no place for whoever gave up', async () => {
    const turnstile = createTurnstile({ most: 1, mostWaiting: 1 });
    const leave = await turnstile.enter(never);
    const ending = new AbortController();
    const givesUp = turnstile.enter(ending.signal);
    await expect(turnstile.enter(never)).rejects.toMatchObject({ code: 'queue-full' });
    ending.abort();
    await expect(givesUp).rejects.toMatchObject({ code: 'cancelled' });
    const next = turnstile.enter(never);
    leave();
    (await next)();
    // A place that came to somebody is not given up by a late end of the call.
    (await turnstile.enter(never))();
    await expect(turnstile.enter(AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
    (await turnstile.enter(never))();
  });
});
