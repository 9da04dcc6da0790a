import { afterEach, describe, expect, it } from 'vitest';
import { createLeasable } from '../../../src/plugins/generations/leases.ts';
import { makeGeneration } from '../rig/make-generation.ts';

const generation = makeGeneration(1);

const readClock = Date.now;
afterEach(() => {
  Date.now = readClock;
});

function makeLeasable() {
  const clock = { nowMs: 1000 };
  const drained: number[] = [];
  const leasable = createLeasable({
    generation,
    granted: () => ({}),
    now: () => clock.nowMs,
    onDrained: () => drained.push(clock.nowMs),
  });
  return { clock, drained, leasable };
}

describe('createLeasable', () => {
  it('is drained at once when nobody calls', () => {
    const { drained, leasable } = makeLeasable();
    leasable.retire(50);
    expect(drained).toHaveLength(1);
  });

  it('is drained by the last call that ends, counted once however often it is released', () => {
    const { drained, leasable } = makeLeasable();
    const first = leasable.served.lease();
    const second = leasable.served.lease();
    leasable.retire(60_000);
    first();
    first();
    expect(drained).toHaveLength(0);
    second();
    expect(drained).toHaveLength(1);
  });

  it('takes late calls until the deadline, and none after it', () => {
    const { clock, leasable } = makeLeasable();
    leasable.retire(50);
    clock.nowMs = 1050;
    leasable.served.lease()();
    clock.nowMs = 1051;
    expect(() => leasable.served.lease()).toThrow(/Generation 1 of "a@1.0.0" was replaced/);
  });

  it('keeps its deadline when the clock of the machine is set', () => {
    const leasable = createLeasable({ generation, granted: () => ({}), onDrained: () => {} });
    leasable.retire(600_000);
    Date.now = () => readClock() + 3_600_000;
    leasable.served.lease()();
    const gone = createLeasable({ generation, granted: () => ({}), onDrained: () => {} });
    gone.retire(-1);
    Date.now = () => readClock() - 3_600_000;
    expect(() => gone.served.lease()).toThrow(/was replaced/);
  });
});
