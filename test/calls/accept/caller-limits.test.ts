import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { createCallerLimits } from '../../../src/calls/accept/caller-limits.ts';

const open = () => createCallerLimits({ now: () => 0 });
const caller = (more: Partial<Caller>): Caller => ({ id: 'key_a', role: 'caller', ...more });
const parent = { executionId: 'e1', chain: [] };

describe('createCallerLimits', () => {
  it('limits nobody without rules', () => {
    const limits = open();
    for (let n = 0; n < 1000; n++) {
      limits.admit({ caller: caller({}) });
      limits.enter({ caller: caller({}) });
    }
  });

  it('refuses what goes beyond the rate, with the time to wait', () => {
    const limits = open();
    const slow = caller({ ratePerMinute: 2 });
    limits.admit({ caller: slow });
    limits.admit({ caller: slow });
    expect(() => limits.admit({ caller: slow })).toThrow(
      expect.objectContaining({ code: 'rate-limited', facts: { retryAfterMs: 30_000 } }),
    );
    limits.admit({ caller: caller({ id: 'key_b', ratePerMinute: 2 }) });
  });

  it('refuses what goes beyond the number of calls under way, until one is over', () => {
    const limits = open();
    const narrow = caller({ maxConcurrent: 2 });
    const leave = limits.enter({ caller: narrow });
    limits.enter({ caller: narrow });
    expect(() => limits.admit({ caller: narrow })).toThrow('2 calls of this key are under way');
    leave();
    leave();
    limits.admit({ caller: narrow });
    limits.enter({ caller: narrow });
    expect(() => limits.admit({ caller: narrow })).toThrow('under way');
  });

  it('takes nothing from the rate for a call that is refused for the number under way', () => {
    const limits = open();
    const both = caller({ maxConcurrent: 1, ratePerMinute: 1 });
    const leave = limits.enter({ caller: both });
    expect(() => limits.admit({ caller: both })).toThrow('under way');
    leave();
    limits.admit({ caller: both });
  });

  it('does not count calls that calls make', () => {
    const limits = open();
    const narrow = caller({ maxConcurrent: 1, ratePerMinute: 1 });
    limits.admit({ caller: narrow });
    limits.enter({ caller: narrow });
    limits.admit({ caller: narrow, parent });
    limits.enter({ caller: narrow, parent });
  });

  it('counts strangers together, whatever their ids', () => {
    const limits = open();
    const stranger = (id: string) => caller({ id: `anonymous:${id}`, isAnonymous: true, maxConcurrent: 1 });
    const leave = limits.enter({ caller: stranger('1') });
    expect(() => limits.admit({ caller: stranger('2') })).toThrow('under way');
    leave();
    limits.admit({ caller: stranger('3') });
  });
});
