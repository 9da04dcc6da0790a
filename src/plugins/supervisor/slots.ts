/** Runs at most a number of tasks at once; the others wait in the order in which they came. */
export interface Slots {
  run<Result>(task: () => Promise<Result>): Promise<Result>;
}

/** Creates slots for `count` tasks at once. */
export function createSlots(count: number): Slots {
  const waiting: Array<() => void> = [];
  let free = count;
  return {
    async run(task) {
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free -= 1;
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}
