import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ServedUnit } from '../../units/unit.ts';
import type { Generation } from './generation.ts';

/** The supervisor's side: callers get `served`, the supervisor retires it. */
export type Leasable = ReturnType<typeof createLeasable>;

/** Makes a generation leasable. `onDrained` may run more than once and must not throw. */
export function createLeasable(parts: {
  readonly generation: Generation;
  readonly granted: ServedUnit['granted'];
  /** Monotonic ms. */
  readonly now?: () => number;
  readonly onDrained: () => void;
}) {
  const { generation, granted, now = () => performance.now(), onDrained } = parts;
  let leases = 0;
  let refusesAfterMs = Number.POSITIVE_INFINITY;
  let deadline: NodeJS.Timeout | undefined;

  function lease(): () => void {
    if (now() > refusesAfterMs) {
      const { name, version } = generation.manifest;
      throw new HotcellError('plugin-not-ready', `Generation ${generation.number} of "${name}@${version}" was replaced.`, {
        fix: 'Call the tool again: the new generation answers.',
      });
    }
    leases += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      leases -= 1;
      if (leases === 0 && refusesAfterMs !== Number.POSITIVE_INFINITY) drained();
    };
  }

  function drained(): void {
    clearTimeout(deadline);
    onDrained();
  }

  return {
    served: { unit: generation, granted, lease } satisfies ServedUnit,
    /** Starts the drain: calls in flight have until the deadline, `onDrained` runs when none is left or when it passes. */
    retire(drainMs: number): void {
      refusesAfterMs = now() + drainMs;
      if (leases === 0) return void drained();
      deadline = setTimeout(onDrained, drainMs);
      deadline.unref();
    },
  };
}
