import { HotcellError } from '../../errors/hotcell-error.ts';

/** Lets so many in at a time; the others wait in order, at most `mostWaiting`. */
export interface Turnstile {
  /** Resolves with what is to be called on the way out. Rejects with `cancelled` or `queue-full`. */
  enter(signal: AbortSignal): Promise<() => void>;
}

/** Makes a turnstile. */
export function createTurnstile({ most, mostWaiting }: { readonly most: number; readonly mostWaiting: number }): Turnstile {
  const waiting: { readonly letIn: () => void }[] = [];
  let inside = 0;
  const leave = () => {
    let isOut = false;
    return () => {
      if (isOut) return;
      isOut = true;
      const next = waiting.shift();
      if (next === undefined) inside--;
      else next.letIn();
    };
  };
  return {
    enter: (signal) => {
      const cancelled = () => new HotcellError('cancelled', 'The call ended before its command could start.');
      if (signal.aborted) return Promise.reject(cancelled());
      if (inside < most) {
        inside++;
        return Promise.resolve(leave());
      }
      if (waiting.length >= mostWaiting) {
        return Promise.reject(new HotcellError('queue-full', `${mostWaiting} commands wait for a container already.`));
      }
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const entry = {
        letIn: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(leave());
        },
      };
      const giveUp = () => {
        waiting.splice(waiting.indexOf(entry), 1);
        reject(cancelled());
      };
      waiting.push(entry);
      signal.addEventListener('abort', giveUp, { once: true });
      return promise;
    },
  };
}
