import { raceAbort } from '../concurrency/race-abort.ts';
import { type Deadline, watchDeadline } from './deadline.ts';

/** Why a call must end before it returns. */
export type EndReason = 'deadline' | 'cancelled';

/** One signal for everything that ends a call early. */
export type RunEnd = ReturnType<typeof createRunEnd>;

/** Joins the deadline with the signals that cancel the call. */
export function createRunEnd(deadline: Deadline, cancels: readonly AbortSignal[]) {
  const controller = new AbortController();
  let reason: EndReason | undefined;
  const end = (why: EndReason): void => {
    reason ??= why;
    controller.abort();
  };
  const cancel = (): void => end('cancelled');
  const stopWatch = watchDeadline(deadline, () => end('deadline'));
  for (const signal of cancels) {
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel);
  }
  return {
    signal: controller.signal,
    /** Undefined while the call may go on. */
    reason: () => reason,
    /** Rejects as soon as the signal aborts, else does as the promise does. */
    race: <Value>(promise: Promise<Value>): Promise<Value> => raceAbort(promise, controller.signal),
    close(): void {
      stopWatch();
      for (const signal of cancels) signal.removeEventListener('abort', cancel);
    },
  };
}
