/** Lets so many in at once; the others wait in line. */
export interface Slots {
  /** Resolves with what gives the slot back; rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>;
}

/** Creates the slots. */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();
  const leave = (): (() => void) => {
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const [next] = waiting;
      if (next) next();
      else free++;
    };
  };
  return {
    enter(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
        return Promise.resolve(leave());
      }
      return new Promise((resolve, reject) => {
        const take = (): void => {
          waiting.delete(take);
          signal.removeEventListener('abort', giveUp);
          resolve(leave());
        };
        const giveUp = (): void => {
          waiting.delete(take);
          reject(signal.reason);
        };
        waiting.add(take);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}
