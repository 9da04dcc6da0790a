import type { Worker } from 'node:worker_threads';
import type { BorderAnswer, LogLine } from '../../../border/border.ts';
import type { WorkerReport, WorkerTask } from './worker-messages.ts';
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
  readonly onDenied: (name: string) => void;
  /** Answers what the guest asks; must not reject. */
  readonly onAsk: (question: ModuleQuestion, signal: AbortSignal) => Promise<BorderAnswer>;
}

/** What a guest asks. */
export type ModuleQuestion = Extract<WorkerReport, { type: 'ask' }>;

/** How a task ended; after anything but a report the worker is of no more use. */
export type TaskEnd =
  | { readonly type: 'report'; readonly report: Exclude<WorkerReport, { type: 'log' | 'denied' | 'ask' }> }
  | { readonly type: 'cpu' | 'aborted' }
  | { readonly type: 'died'; readonly code: string };

/** Gives a worker a task and waits for its end, the processor's limit or the signal, whichever is first. */
export function runTask(pooled: PoolWorker, task: WorkerTask, bounds: TaskBounds, host: TaskHost | undefined): Promise<TaskEnd> {
  const { worker, answer } = pooled;
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    let hasEnded = false;
    const end = (result: TaskEnd): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (result.type === 'report' && 'usage' in result.report) pooled.spentMs = result.report.usage.threadCpuMs;
      clearTimeout(timer);
      bounds.signal.removeEventListener('abort', onAbort);
      pooled.hear = undefined;
      worker.unref();
      resolve(result);
    };
    const onAbort = (): void => end({ type: 'aborted' });
    const watchProcessor = async (): Promise<void> => {
      const leftMs = bounds.cpuMs - ((await readProcessorMs(worker)) - spentBeforeMs);
      if (leftMs <= 0) end({ type: 'cpu' });
      else if (!hasEnded) timer = setTimeout(watchProcessor, leftMs);
    };

    const spentBeforeMs = pooled.spentMs;
    worker.ref();
    pooled.hear = (said) => {
      if (said.type === 'log') host?.onLog(said.line);
      else if (said.type === 'denied') host?.onDenied(said.name);
      else if (said.type === 'ask') void host?.onAsk(said, bounds.signal).then(answer);
      else end(said.type === 'died' ? said : { type: 'report', report: said });
    };
    bounds.signal.addEventListener('abort', onAbort, { once: true });
    timer = setTimeout(watchProcessor, bounds.cpuMs);
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
