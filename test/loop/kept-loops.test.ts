import { describe, expect, it } from 'vitest';
import type { Caller } from '../../src/callers/caller.ts';
import { createKeptLoops } from '../../src/loop/kept-loops.ts';
import type { LoopRequest } from '../../src/loop/loop.ts';
import { loopBoundsOf } from '../../src/loop/loop-budget.ts';
import { temporaryStore } from '../store/temporary-store.ts';
import { user } from './rig.ts';

const ann: Caller = { id: 'ann', role: 'caller' };
const MIB = 1024 * 1024;

function requestOf(id: string, caller: Caller, text: string): LoopRequest {
  const conversation = {
    model: 'm',
    system: [],
    messages: [user(text)],
    tools: [],
    nativeTools: [],
    sampling: {},
    isStreamed: false,
  };
  return { id, conversation, tools: {}, bounds: loopBoundsOf([]), caller, purpose: 'chat' };
}

describe('begin', () => {
  it('keeps nothing of a caller without a token, and nothing that is larger than one may be', () => {
    const { loops: table } = temporaryStore();
    const kept = createKeptLoops({ table, now: () => 1 });
    const anonymous: Caller = { id: 'anonymous:1', role: 'caller', isAnonymous: true };
    expect(kept.begin(requestOf('a', anonymous, 'x'), 1)).toBe(false);
    expect(kept.begin(requestOf('b', ann, 'x'.repeat(33 * MIB)), 1)).toBe(false);
    expect(kept.begin(requestOf('c', ann, 'x'), 1)).toBe(true);
    expect(table.listOpen().map(({ id }) => id)).toEqual(['c']);
  });
});
