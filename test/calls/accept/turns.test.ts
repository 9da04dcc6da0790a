import { describe, expect, it } from 'vitest';
import { createTurns } from '../../../src/calls/accept/turns.ts';
import { admin, ann, bob } from '../../tools/calling-house.ts';

describe('createTurns', () => {
  it('lets calls of one turn in one after the other, in the order in which they came', async () => {
    const turns = createTurns();
    const seen: string[] = [];
    const begin = async (name: string) => {
      const leave = await turns.enter({ caller: ann, turn: 't' });
      seen.push(`+${name}`);
      await Promise.resolve();
      seen.push(`-${name}`);
      leave();
    };
    await Promise.all(['a', 'b', 'c'].map(begin));
    expect(seen).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
  });

  it('keeps turns and callers apart', async () => {
    const turns = createTurns();
    await turns.enter({ caller: ann, turn: 't' });
    await turns.enter({ caller: bob, turn: 't' });
    await turns.enter({ caller: ann, turn: 'u' });
    await turns.enter({ caller: admin, turn: 't' });
  });

  it('gives up a place when its call is cancelled', async () => {
    const turns = createTurns();
    const controller = new AbortController();
    const leave = await turns.enter({ caller: ann, turn: 't' });
    const second = turns.enter({ caller: ann, turn: 't', signal: controller.signal });
    const third = turns.enter({ caller: ann, turn: 't' });
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: 'cancelled' });
    leave();
    leave();
    (await third)();
    await turns.enter({ caller: ann, turn: 't' });
  });

  it('lets a bounded number wait', async () => {
    const turns = createTurns();
    await turns.enter({ caller: ann, turn: 't' });
    for (let n = 0; n < 100; n++) void turns.enter({ caller: ann, turn: 't' });
    await expect(turns.enter({ caller: ann, turn: 't' })).rejects.toMatchObject({ code: 'queue-full' });
  });
});
