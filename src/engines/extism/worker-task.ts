import type { Worker } from 'node:worker_threads';
import type { BorderAnswer, LogLine } from '../border.ts';
import { isWorkerReport, type WorkerReport, type WorkerTask } from './worker-messages.ts';
import type { PoolWorker } from './worker-pool.ts';

/** When a task must end, whatever it does. */
export interface TaskBounds {
  /** Time on the processor, in ms. */
  readonly cpuMs: number;
  /** Aborts at the deadline and when the call is cancelled. */
  readonly signal: AbortSignal;
}

/** What a task says on its way. */
export interface TaskHost {
  readonly onLog: (line: LogLine) => void;
  /** Answers what the guest asks; must not reject. */
  readonly onAsk: (question: Question, signal: AbortSignal) => Promise<BorderAnswer>;
}

/** What a guest asks. */
export type Question = Extract<WorkerReport, { type: 'ask' }>;

/** How a task ended; after anything but a report the worker is of no more use. */
export type TaskEnd =
  | { readonly type: 'report'; readonly report: Exclude<WorkerReport, { type: 'log' | 'ask' }> }
  | { readonly type: 'cpu' | 'aborted' }
  | { readonly type: 'died'; readonly code: string };

/** Gives a worker a task and waits for its end, the processor's limit or the signal, whichever is first. */
export function runTask(pooled: PoolWorker, task: WorkerTask, bounds: TaskBounds, host: TaskHost | undefined): Promise<TaskEnd> {
  const { worker, answer } = pooled;
  return new Promise((resolve) => {
    const timers = new Set<NodeJS.Timeout>();
    let hasEnded = false;
    const after = (ms: number, act: () => unknown): void => {
      if (hasEnded) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          act();
        },
        Math.max(0, ms),
      );
      timers.add(timer);
    };
    const end = (result: TaskEnd): void => {
      hasEnded = true;
      if (result.type === 'report' && 'usage' in result.report) pooled.spentMs = result.report.usage.threadCpuMs;
      for (const timer of timers) clearTimeout(timer);
      bounds.signal.removeEventListener('abort', onAbort);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      worker.unref();
      resolve(result);
    };
    const onAbort = (): void => end({ type: 'aborted' });
    const onExit = (): void => end({ type: 'died', code: 'exit' });
    const onError = (error: unknown): void => end({ type: 'died', code: readCode(error) });
    const onMessage = (message: unknown): void => {
      if (!isWorkerReport(message)) return;
      if (message.type === 'log') host?.onLog(message.line);
      else if (message.type === 'ask') void host?.onAsk(message, bounds.signal).then(answer);
      else end({ type: 'report', report: message });
    };
    const watchProcessor = async (): Promise<void> => {
      const leftMs = bounds.cpuMs - ((await readProcessorMs(worker)) - spentBeforeMs);
      if (leftMs <= 0) end({ type: 'cpu' });
      else after(leftMs, watchProcessor);
    };

    const spentBeforeMs = pooled.spentMs;
    worker.ref();
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    bounds.signal.addEventListener('abort', onAbort, { once: true });
    after(bounds.cpuMs, watchProcessor);
    worker.postMessage(task);
    if (bounds.signal.aborted) onAbort();
  });
}

/** What the worker's thread has spent so far; 0 while it starts and when it is gone, where other events end the task. */
async function readProcessorMs(worker: Worker): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return 0;
  }
}

function readCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}
