import { createRateBuckets } from '../../callers/rate-buckets.ts';
import { Counts } from '../../collections/counts.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { CallRequest } from '../call-types.ts';

type LimitedRequest = Pick<CallRequest, 'caller' | 'parent'>;

const maxCallers = 10_000;
const retryWhenBusyMs = 1000;
const noLimit = (): void => {};

/** Holds callers to the rate and the number of calls that their rules allow. Calls that calls make do not count. */
export type CallerLimits = ReturnType<typeof createCallerLimits>;

/** Creates the limits of all callers. */
export function createCallerLimits(parts: { readonly now: () => number }) {
  const buckets = createRateBuckets({ now: parts.now, maxBuckets: maxCallers });
  const underWayByCaller = new Counts();
  return {
    /** Takes one call from the rate. Throws `rate-limited` with `retryAfterMs` when the caller must wait. */
    admit({ caller, parent }: LimitedRequest): void {
      if (parent !== undefined) return;
      const { maxConcurrent, ratePerMinute } = caller;
      const underWay = maxConcurrent === undefined ? 0 : underWayByCaller.of(countedAs(caller.id));
      if (maxConcurrent !== undefined && underWay >= maxConcurrent) {
        throw refuse(`${underWay} calls of this key are under way; at most ${maxConcurrent} may be.`, retryWhenBusyMs);
      }
      const waitMs = ratePerMinute === undefined ? 0 : buckets.take(caller.id, ratePerMinute);
      if (waitMs > 0) throw refuse(`This key may make ${ratePerMinute} calls a minute.`, waitMs);
    },
    /** Counts a call in; the returned function counts it out. */
    enter({ caller, parent }: LimitedRequest): () => void {
      if (parent !== undefined || caller.maxConcurrent === undefined) return noLimit;
      const key = countedAs(caller.id);
      underWayByCaller.add(key, 1);
      let isIn = true;
      return () => {
        if (isIn) underWayByCaller.add(key, -1);
        isIn = false;
      };
    },
  };
}

function refuse(message: string, retryAfterMs: number): HotcellError {
  return new HotcellError('rate-limited', message, {
    facts: { retryAfterMs },
    fix: 'Wait as long as Retry-After says; an operator can raise the limit: hotcell key update ID.',
  });
}
