import { createPlaceCount, type HeldPlace } from '../../concurrency/place-count.ts';
import { createTurns } from '../../concurrency/turns.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { CallRequest } from '../call-types.ts';

const { each, ...bounds } = quotas['queue.turns'];

/**
 * The calls that a model asked for in one turn: those whose tools are not marked isParallelSafe run one after the other, in
 * the order in which they came; the others run when they come.
 */
export type CallTurns = ReturnType<typeof createCallTurns>;

/** Creates the turns of all callers. A turn is forgotten when its last call is over. */
export function createCallTurns() {
  const turns = createTurns();
  const waitingOfAll = createPlaceCount(bounds);

  function takePlace(waitingOfTurn: number, caller: CallRequest['caller']): HeldPlace {
    const holder = { callerId: countedAs(caller.id), unitPath: '', isAdmin: caller.role === 'admin' };
    const full =
      waitingOfTurn < each.max ? waitingOfAll.findFull(holder) : { calls: `${each.max} calls of this turn`, max: each.max };
    if (full === undefined) return waitingOfAll.take(holder);
    const message = `${full.calls} wait for earlier calls of their turn already; at most ${full.max} may wait.`;
    throw new HotcellError('queue-full', message, { fix: 'Call again when some of them are over.' });
  }

  return {
    /** Resolves with what ends the place when the call may begin. Throws `queue-full`; rejects with `cancelled`. */
    async enter({ caller, turn, signal }: Pick<CallRequest, 'caller' | 'turn' | 'signal'>): Promise<() => void> {
      const key = JSON.stringify([caller.id, turn]);
      const waiting = turns.waiting(key);
      const held = waiting === undefined ? undefined : takePlace(waiting, caller);
      // A call that was cancelled before it came is answered as every other such call is.
      const givesUp = signal?.aborted ? undefined : signal;
      try {
        return await turns.enter(key, givesUp);
      } catch {
        throw new HotcellError('cancelled', 'The call was cancelled while earlier calls of its turn ran.');
      } finally {
        held?.leave();
      }
    },
  };
}
