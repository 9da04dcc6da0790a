import { describe, expect, it } from 'vitest';
import { Deadline, watchDeadline } from '../../src/engines/deadline.ts';

function deadlineAt(atMs: number) {
  const clock = { nowMs: 0 };
  return { clock, deadline: new Deadline(atMs, undefined, () => clock.nowMs) };
}

describe('Deadline', () => {
  it('is over when its time has come', () => {
    const { clock, deadline } = deadlineAt(100);
    clock.nowMs = 99;
    expect(deadline.isOver()).toBe(false);
    clock.nowMs = 100;
    expect(deadline.isOver()).toBe(true);
    expect(deadline.leftMs()).toBe(0);
  });

  it('stands still while it is held, however often', () => {
    const { clock, deadline } = deadlineAt(100);
    clock.nowMs = 40;
    const first = deadline.hold();
    const second = deadline.hold();
    clock.nowMs = 1040;
    first();
    first();
    expect(deadline.isHeld).toBe(true);
    expect(deadline.leftMs()).toBe(60);
    clock.nowMs = 5040;
    expect(deadline.isOver()).toBe(false);
    second();
    expect(deadline.leftMs()).toBe(60);
    clock.nowMs = 5100;
    expect(deadline.isOver()).toBe(true);
  });
});

describe('watchDeadline', () => {
  it('tells once, and not while the deadline is held', async () => {
    const deadline = new Deadline(20);
    const release = deadline.hold();
    let told = 0;
    watchDeadline(deadline, () => told++);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(told).toBe(0);
    release();
    await expect.poll(() => told).toBe(1);
  });

  it('tells nothing after its end', async () => {
    let told = 0;
    watchDeadline(new Deadline(5), () => told++)();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(told).toBe(0);
  });
});
