import { HotcellError } from '../../../errors/hotcell-error.ts';
import { createSlots } from '../slots.ts';

/** Lets so many in at a time; the others wait in order, at most `mostWaiting`. */
export interface Turnstile {
  /** Resolves with what is to be called on the way out. Rejects with `cancelled` or `queue-full`. */
  enter(signal: AbortSignal): Promise<() => void>;
}

/** Makes a turnstile. */
export function createTurnstile({ most, mostWaiting }: { readonly most: number; readonly mostWaiting: number }): Turnstile {
  const slots = createSlots(most);
  let here = 0;
  return {
    async enter(signal) {
      if (!signal.aborted && here >= most + mostWaiting) {
        throw new HotcellError('queue-full', `${mostWaiting} commands wait for a container already.`);
      }
      here++;
      try {
        const leave = await slots.enter(signal);
        let isIn = true;
        return () => {
          if (isIn) here--;
          isIn = false;
          leave();
        };
      } catch {
        here--;
        throw new HotcellError('cancelled', 'The call ended before its command could start.');
      }
    },
  };
}
