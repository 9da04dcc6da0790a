import { describe, expect, it } from 'vitest';
import { createSlots } from '../../src/concurrency/slots.ts';

describe('createSlots', () => {
  it('lets in as many as there are slots, in line, and forgets who gave up', async () => {
    const slots = createSlots(1);
    const signal = new AbortController().signal;
    const leave = await slots.enter(signal);
    const order: string[] = [];
    const gaveUp = new AbortController();
    const second = slots.enter(gaveUp.signal);
    const third = slots.enter(signal).then((out) => {
      order.push('third');
      return out;
    });
    gaveUp.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    leave();
    leave();
    const out = await third;
    const fourth = slots.enter(signal).then(() => order.push('fourth'));
    expect(order).toEqual(['third']);
    out();
    await fourth;
    expect(order).toEqual(['third', 'fourth']);
  });
});
