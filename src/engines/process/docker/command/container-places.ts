import { createPlaces } from '../../../../concurrency/engine-places.ts';
import { createPlaceCount, type Holder } from '../../../../concurrency/place-count.ts';
import { sharePlaces, shareQueue } from '../../../../config/quotas/quota.ts';
import { HotcellError } from '../../../../errors/hotcell-error.ts';

/**
 * Lets so many commands have a container at a time; the others wait, callers in turn, at most `maxWaiting` of them. No caller and
 * no plugin has all of it, and admins have a reserve beyond it.
 */
export function createContainerPlaces({ maxRunning, maxWaiting }: { readonly maxRunning: number; readonly maxWaiting: number }) {
  const running = createPlaces({ inside: sharePlaces(maxRunning), aside: sharePlaces(maxRunning), engine: 'docker' });
  const waiting = createPlaceCount(shareQueue(maxWaiting));
  return {
    /** Resolves with what is to be called on the way out. Rejects with `cancelled` or `queue-full`. */
    async enter(holder: Holder, signal: AbortSignal): Promise<() => void> {
      if (signal.aborted) throw endedEarly();
      const refusing = new AbortController();
      const entered = running.enter(holder, AbortSignal.any([signal, refusing.signal]));
      if (!(entered instanceof Promise)) return entered.leave;
      // Only whoever got no place at once waits: the line is left again where too many stand in it.
      const full = waiting.findFull(holder);
      if (full !== undefined) {
        entered.catch(() => undefined);
        refusing.abort();
        throw new HotcellError('queue-full', `${full.calls} wait for a container already; at most ${full.max} may wait.`);
      }
      const held = waiting.take(holder);
      try {
        return (await entered).leave;
      } catch {
        throw endedEarly();
      } finally {
        held.leave();
      }
    },
  };
}

function endedEarly(): HotcellError {
  return new HotcellError('cancelled', 'The call ended before its command could start.');
}
