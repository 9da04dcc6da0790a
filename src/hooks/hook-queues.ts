/** Queues of work, one for each hook: within one the order is kept, and a slow one keeps no other waiting. */
export interface HookQueues {
  /** Takes a piece of work, which must not reject. False when the queue is full: it is not done then. */
  push(lane: string, work: () => Promise<void>): boolean;
  /** Resolves when nothing is left, at the latest after `maxMs`; false when something was left. */
  settled(maxMs: number): Promise<boolean>;
}

/** Creates the queues; each holds at most `maxWaiting` pieces beside the one under way. */
export function createHookQueues(maxWaiting: number): HookQueues {
  const waitingByLane = new Map<string, Array<() => Promise<void>>>();
  let whenIdle: PromiseWithResolvers<void> | undefined;

  async function run(lane: string, waiting: Array<() => Promise<void>>, first: () => Promise<void>): Promise<void> {
    for (let work: (() => Promise<void>) | undefined = first; work !== undefined; work = waiting.shift()) await work();
    waitingByLane.delete(lane);
    if (waitingByLane.size === 0) whenIdle?.resolve();
  }

  return {
    push(lane, work) {
      const waiting = waitingByLane.get(lane);
      if (waiting !== undefined) {
        if (waiting.length >= maxWaiting) return false;
        waiting.push(work);
        return true;
      }
      const made: Array<() => Promise<void>> = [];
      waitingByLane.set(lane, made);
      void run(lane, made, work);
      return true;
    },
    async settled(maxMs) {
      if (waitingByLane.size === 0) return true;
      whenIdle = Promise.withResolvers<void>();
      const timer = setTimeout(() => whenIdle?.resolve(), maxMs);
      await whenIdle.promise;
      clearTimeout(timer);
      return waitingByLane.size === 0;
    },
  };
}
