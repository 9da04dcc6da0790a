import { describe, expect, it } from 'vitest';
import { createHookQueues } from '../../src/hooks/event-hooks.ts';

describe('createHookQueues', () => {
  it('does the work of one lane in order, while another is stuck', async () => {
    const lanes = createHookQueues(10);
    const done: string[] = [];
    const stuck = Promise.withResolvers<void>();
    lanes.push('a', () => stuck.promise);
    for (const name of ['1', '2', '3']) lanes.push('b', async () => void done.push(name));
    expect(await lanes.settled(1)).toBe(false);
    expect(done).toEqual(['1', '2', '3']);
    stuck.resolve();
    expect(await lanes.settled(10_000)).toBe(true);
  });

  it('refuses what a full lane cannot hold', async () => {
    const lanes = createHookQueues(2);
    const stuck = Promise.withResolvers<void>();
    const done: number[] = [];
    const takes = [0, 1, 2, 3].map((count) => lanes.push('a', async () => stuck.promise.then(() => void done.push(count))));
    expect(takes).toEqual([true, true, true, false]);
    stuck.resolve();
    await lanes.settled(10_000);
    expect(done).toEqual([0, 1, 2]);
    expect(lanes.push('a', async () => {})).toBe(true);
  });
});
