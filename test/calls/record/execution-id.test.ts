import { describe, expect, it } from 'vitest';
import { createExecutionIds } from '../../../src/calls/record/execution-id.ts';

describe('createExecutionIds', () => {
  it('sorts by time, within a millisecond and when the clock steps back', () => {
    let nowMs = 1_800_000_000_000;
    const next = createExecutionIds(() => nowMs);
    const ids: string[] = [];
    for (let round = 0; round < 5000; round++) {
      if (round % 1000 === 0) nowMs += round === 2000 ? -50_000 : 7;
      ids.push(next());
    }
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(5000);
    expect(ids[0]).toMatch(/^exe_[0-9a-hjkmnp-tv-z]{26}$/);
  });
});
