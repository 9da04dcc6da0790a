/** Lets a bounded number of operations run at a time; the others wait in order. */
export type Gate = <Result>(run: () => Promise<Result>) => Promise<Result>;

/** Makes a gate. Operations behind one gate must not wait for each other. */
export function createGate(maxAtOnce: number): Gate {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await run();
    } finally {
      // The place goes to the next in line without becoming free in between.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
