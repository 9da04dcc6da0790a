import { HotcellError } from '../../errors/hotcell-error.ts';
import type { CallRequest } from '../call-types.ts';

/**
 * The calls that a model asked for in one turn: those whose tools are not marked isParallelSafe run one after the other, in
 * the order in which they came; the others run when they come.
 */
export interface Turns {
  /** Resolves with what ends the place when the call may begin. Throws `queue-full`; rejects with `cancelled`. */
  enter(request: Pick<CallRequest, 'caller' | 'turn' | 'signal'>): Promise<() => void>;
}

const mostWaiting = 100;
const mostWaitingOfAll = 10_000;

/** Creates the turns of all callers. A turn is forgotten when its last call is over. */
export function createTurns(): Turns {
  const waitingByTurn = new Map<string, Array<() => void>>();
  let waitingOfAll = 0;

  function leave(key: string): void {
    const next = waitingByTurn.get(key)?.shift();
    if (next === undefined) waitingByTurn.delete(key);
    else next();
  }

  function wait(waiting: Array<() => void>, signal: AbortSignal | undefined): Promise<void> {
    if (waiting.length >= mostWaiting || waitingOfAll >= mostWaitingOfAll) {
      throw new HotcellError('queue-full', `${waiting.length} calls of this turn wait already; at most ${mostWaiting} may wait.`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = (): void => end(resolve);
    const giveUp = (): void => {
      waiting.splice(waiting.indexOf(begin), 1);
      end(() => reject(new HotcellError('cancelled', 'The call was cancelled while earlier calls of its turn ran.')));
    };
    const end = (settle: () => void): void => {
      waitingOfAll--;
      signal?.removeEventListener('abort', giveUp);
      settle();
    };
    waitingOfAll++;
    waiting.push(begin);
    signal?.addEventListener('abort', giveUp, { once: true });
    return promise;
  }

  return {
    async enter({ caller, turn, signal }) {
      const key = JSON.stringify([caller.id, turn]);
      const waiting = waitingByTurn.get(key);
      if (waiting === undefined) waitingByTurn.set(key, []);
      else await wait(waiting, signal);
      let isIn = true;
      return () => {
        if (isIn) leave(key);
        isIn = false;
      };
    },
  };
}
