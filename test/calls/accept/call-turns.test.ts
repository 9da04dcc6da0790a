import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { createCallTurns } from '../../../src/calls/accept/call-turns.ts';
import { admin, ann, bob } from '../../tools/calling-house.ts';

describe('createCallTurns', () => {
  it('lets calls of one turn in one after the other, in the order in which they came', async () => {
    const turns = createCallTurns();
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
    const turns = createCallTurns();
    await turns.enter({ caller: ann, turn: 't' });
    await turns.enter({ caller: bob, turn: 't' });
    await turns.enter({ caller: ann, turn: 'u' });
    await turns.enter({ caller: admin, turn: 't' });
  });

  it('gives up a place when its call is cancelled', async () => {
    const turns = createCallTurns();
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

  it('leaves room to other callers, and keeps some for admins', async () => {
    const turns = createCallTurns();
    const fill = async (caller: Caller, waiting: number) => {
      for (let turn = 0; turn < waiting / 100; turn++) {
        await turns.enter({ caller, turn: `t${turn}` });
        for (let n = 0; n < 100; n++) void turns.enter({ caller, turn: `t${turn}` });
      }
    };
    const another = async (caller: Caller) => {
      await turns.enter({ caller, turn: 'more' });
      return turns.enter({ caller, turn: 'more' });
    };
    await fill(ann, 6000);
    const ofCaller = '6000 calls of this caller wait for earlier calls of their turn already; at most 6000 may wait.';
    await expect(another(ann)).rejects.toMatchObject({ code: 'queue-full', message: ofCaller });
    await fill(bob, 4000);
    const ofAll = '10000 calls wait for earlier calls of their turn already; at most 10000 may wait.';
    await expect(another(bob)).rejects.toMatchObject({ code: 'queue-full', message: ofAll });
    const leave = await turns.enter({ caller: admin, turn: 'own' });
    const waits = turns.enter({ caller: admin, turn: 'own' });
    leave();
    (await waits)();
  });

  it('lets a bounded number wait', async () => {
    const turns = createCallTurns();
    await turns.enter({ caller: ann, turn: 't' });
    for (let n = 0; n < 100; n++) void turns.enter({ caller: ann, turn: 't' });
    await expect(turns.enter({ caller: ann, turn: 't' })).rejects.toMatchObject({ code: 'queue-full' });
  });
});
