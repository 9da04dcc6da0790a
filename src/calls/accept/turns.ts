import { budgets } from '../../config/budgets.ts';
import { countedAs } from '../../config/stranger.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { createPlaceCount } from '../../queues/place-count.ts';
import type { CallRequest } from '../call-types.ts';

/**
 * The calls that a model asked for in one turn: those whose tools are not marked isParallelSafe run one after the other, in
 * the order in which they came; the others run when they come.
 */
export interface Turns {
  /** Resolves with what ends the place when the call may begin. Throws `queue-full`; rejects with `cancelled`. */
  enter(request: Pick<CallRequest, 'caller' | 'turn' | 'signal'>): Promise<() => void>;
}

const { each, ...bounds } = budgets['queue.turns'];

/** Creates the turns of all callers. A turn is forgotten when its last call is over. */
export function createTurns(): Turns {
  const waitingByTurn = new Map<string, Array<() => void>>();
  const waitingOfAll = createPlaceCount(bounds);

  function leave(key: string): void {
    const next = waitingByTurn.get(key)?.shift();
    if (next === undefined) waitingByTurn.delete(key);
    else next();
  }

  function wait(waiting: Array<() => void>, { caller, signal }: Pick<CallRequest, 'caller' | 'signal'>): Promise<void> {
    const holder = { callerId: countedAs(caller.id), pluginPath: '', isOperator: caller.role === 'admin' };
    const full =
      waiting.length < each.max ? waitingOfAll.findFull(holder) : { calls: `${each.max} calls of this turn`, max: each.max };
    if (full !== undefined) {
      const message = `${full.calls} wait for earlier calls of their turn already; at most ${full.max} may wait.`;
      throw new HotcellError('queue-full', message, { fix: 'Call again when some of them are over.' });
    }
    const held = waitingOfAll.take(holder);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = (): void => end(resolve);
    const giveUp = (): void => {
      waiting.splice(waiting.indexOf(begin), 1);
      end(() => reject(new HotcellError('cancelled', 'The call was cancelled while earlier calls of its turn ran.')));
    };
    const end = (settle: () => void): void => {
      held.leave();
      signal?.removeEventListener('abort', giveUp);
      settle();
    };
    waiting.push(begin);
    signal?.addEventListener('abort', giveUp, { once: true });
    return promise;
  }

  return {
    async enter({ caller, turn, signal }) {
      const key = JSON.stringify([caller.id, turn]);
      const waiting = waitingByTurn.get(key);
      if (waiting === undefined) waitingByTurn.set(key, []);
      else await wait(waiting, { caller, ...(signal && { signal }) });
      let isIn = true;
      return () => {
        if (isIn) leave(key);
        isIn = false;
      };
    },
  };
}
