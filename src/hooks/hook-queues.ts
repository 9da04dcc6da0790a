import { createTurns } from '../concurrency/turns.ts';

/**
 * Creates queues of work, one for each hook: within one the order is kept, and a slow one keeps no other waiting. Each holds at most
 * `maxWaiting` pieces beside the one under way.
 */
export function createHookQueues(maxWaiting: number) {
  const turns = createTurns();
  const left = new Set<Promise<void>>();

  return {
    /** Takes a piece of work, which must not reject. False when the queue is full: it is not done then. */
    push(hook: string, work: () => Promise<void>): boolean {
      if ((turns.waiting(hook) ?? 0) >= maxWaiting) return false;
      const done = turns.run(hook, work).finally(() => left.delete(done));
      left.add(done);
      return true;
    },
    /** Resolves when nothing is left, at the latest after `maxMs`; false when something was left. */
    async settled(maxMs: number): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(resolve, maxMs, true);
      for (let isLate = false; left.size > 0 && !isLate; )
        isLate = await Promise.race([Promise.all(left).then(() => false), promise]);
      clearTimeout(timer);
      return left.size === 0;
    },
  };
}
