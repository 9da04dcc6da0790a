import { describe, expect, it } from 'vitest';
import { createRateBuckets } from '../../src/callers/rate-buckets.ts';

function open(maxBuckets = 100) {
  const clock = { ms: 1_000_000 };
  const buckets = createRateBuckets({ now: () => clock.ms, maxBuckets });
  return { clock, take: (key: string, perMinute: number) => buckets.take(key, perMinute) };
}

describe('createRateBuckets', () => {
  it('gives out what a minute allows and then says how long to wait', () => {
    const { take } = open();
    expect([take('a', 3), take('a', 3), take('a', 3), take('a', 3)]).toEqual([0, 0, 0, 20_000]);
  });

  it('fills evenly, up to one minute', () => {
    const { clock, take } = open();
    for (let n = 0; n < 4; n++) take('a', 3);
    clock.ms += 20_000;
    expect([take('a', 3), take('a', 3)]).toEqual([0, 20_000]);
    clock.ms += 3_600_000;
    expect([take('a', 3), take('a', 3), take('a', 3), take('a', 3)]).toEqual([0, 0, 0, 20_000]);
  });

  it('keeps keys apart', () => {
    const { take } = open();
    expect([take('a', 1), take('b', 1), take('a', 1)]).toEqual([0, 0, 60_000]);
  });

  it('neither fills nor empties when the clock is set back', () => {
    const { clock, take } = open();
    take('a', 1);
    clock.ms -= 3_600_000;
    expect(take('a', 1)).toBe(60_000);
    clock.ms += 60_000;
    expect(take('a', 1)).toBe(0);
  });

  it('remembers a bounded number of keys, those used last', () => {
    const { take } = open(2);
    take('busy', 2);
    for (let n = 0; n < 1000; n++) {
      take(`once-${n}`, 1);
      take('busy', 2);
    }
    expect(take('busy', 2)).toBeGreaterThan(0);
    expect(take('once-0', 1)).toBe(0);
  });
});
