import { describe, expect, it } from 'vitest';
import { createGate } from '../../../src/capabilities/files/gate.ts';

describe('createGate', () => {
  it('runs so many at a time, in order, and goes on after a failure', async () => {
    const gate = createGate(2);
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const runs = [0, 1, 2, 3].map((index) =>
      gate(async () => {
        started.push(index);
        await new Promise<void>((resolve) => ends.push(resolve));
        if (index === 0) throw new Error('first');
      }),
    );
    const outcomes = Promise.allSettled(runs);
    expect(started).toEqual([0, 1]);
    ends[0]?.();
    await expect(runs[0]).rejects.toThrow('first');
    await Promise.resolve();
    expect(started).toEqual([0, 1, 2]);
    ends[1]?.();
    await runs[1];
    ends[2]?.();
    await runs[2];
    ends[3]?.();
    expect((await outcomes).map((outcome) => outcome.status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    expect(started).toEqual([0, 1, 2, 3]);
  });
});
