/** Lets so many in at once; the others wait in the order in which they came. */
export type Slots = ReturnType<typeof createSlots>;

/** Creates `count` slots. */
export function createSlots(count: number) {
  let free = count;
  const waiting = new Set<() => void>();

  function take(): () => void {
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const [next] = waiting;
      if (next) next();
      else free++;
    };
  }

  function enter(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (free > 0) {
      free--;
      return Promise.resolve(take());
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        waiting.delete(begin);
        signal?.removeEventListener('abort', giveUp);
        resolve(take());
      };
      const giveUp = (): void => {
        waiting.delete(begin);
        reject(signal?.reason);
      };
      waiting.add(begin);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  return {
    /** Resolves with what gives the slot back; giving it back again does nothing. Rejects with the signal's reason. */
    enter,
    /** Runs a task in a slot; while it waits for one the signal counts. */
    async run<Result>(task: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
      const leave = await enter(signal);
      try {
        return await task();
      } finally {
        leave();
      }
    },
    /** Whether nobody is in. */
    isIdle: (): boolean => free === count,
    /** How many wait. */
    waiting: (): number => waiting.size,
  };
}
