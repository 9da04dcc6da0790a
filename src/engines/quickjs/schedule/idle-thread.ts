import type { WorkerThread } from './worker-thread.ts';

/** An idle thread, best one with nothing to move out and with the image at hand. */
export function findIdleThread(threads: Iterable<WorkerThread>, programKey: string | undefined): WorkerThread | undefined {
  let best: WorkerThread | undefined;
  let bestScore = -1;
  for (const thread of threads) {
    if (!thread.isIdle) continue;
    const score = (thread.residentCell === undefined ? 2 : 0) + (programKey !== undefined && thread.hasImage(programKey) ? 1 : 0);
    if (score > bestScore) [best, bestScore] = [thread, score];
  }
  return best;
}
