import { describe, expect, it } from 'vitest';
import { createTurns } from '../../src/concurrency/turns.ts';

describe('createTurns', () => {
  it('runs what shares a key one after the other, also after a failure, and what has another key at once', async () => {
    const turns = createTurns();
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = turns.run('a', async () => {
      await gate.promise;
      seen.push('first');
      throw new Error('no');
    });
    const second = turns.run('a', async () => seen.push('second'));
    await turns.run('b', async () => seen.push('other'));
    gate.resolve();
    await expect(first).rejects.toThrow('no');
    await second;
    expect(seen).toEqual(['other', 'first', 'second']);
  });

  it('lets nobody past whoever came to a key that was free in between', async () => {
    const turns = createTurns();
    const leave = await turns.enter('a');
    leave();
    await turns.enter('a');
    leave();
    const third = turns.enter('a', AbortSignal.abort(new Error('gone')));
    await expect(third).rejects.toThrow('gone');
    const waiting = new AbortController();
    const fourth = turns.enter('a', waiting.signal);
    waiting.abort(new Error('still taken'));
    await expect(fourth).rejects.toThrow('still taken');
  });

  it('says how many wait for a key', async () => {
    const turns = createTurns();
    expect(turns.waiting('a')).toBeUndefined();
    const leave = await turns.enter('a');
    const next = turns.enter('a');
    expect([turns.waiting('a'), turns.waiting('b')]).toEqual([1, undefined]);
    leave();
    (await next)();
    expect(turns.waiting('a')).toBeUndefined();
  });
});
