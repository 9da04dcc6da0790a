import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { BorderAnswer, LogLine } from '../../../border/border.ts';
import { BoundedMap } from '../../../collections/bounded-map.ts';
import { createSlots } from '../../../concurrency/slots.ts';
import { codeCacheEnvironment } from '../../../config/code-cache.ts';
import { keptModules, type WorkerReport, type WorkerTask } from './worker-messages.ts';

/** When a task must end, whatever it does. */
export interface TaskBounds {
  /** Time on the processor, in ms. */
  readonly cpuMs: number;
  /** Aborts at the deadline and when the call is cancelled. */
  readonly signal: AbortSignal;
}

/** Who hears what a task says on its way. */
export interface TaskHost {
  readonly onLog: (line: LogLine) => void;
  readonly onDenied: (name: string) => void;
  /** Answers what the guest asks; must not reject. */
  readonly onAsk: (question: Extract<WorkerReport, { type: 'ask' }>) => Promise<BorderAnswer>;
}

/** How a task ended; after anything but a report the worker is of no more use. */
export type TaskEnd =
  | { readonly type: 'report'; readonly report: Exclude<WorkerReport, { type: 'log' | 'denied' | 'ask' }> }
  | { readonly type: 'cpu' | 'aborted' }
  | { readonly type: 'died'; readonly code: string };

/** Worker threads, each for one task at a time. */
export interface WorkerPool {
  /**
   * Gives a worker a task, a warm one if there is one, and waits for its end, the processor's limit or the signal, whichever is
   * first. Waits in line when all are busy, and rejects there with the signal's reason.
   */
  run(task: WorkerTask, bounds: TaskBounds, host?: TaskHost): Promise<TaskEnd>;
  /** Starts the workers that are kept warm, so that the next tasks find one. */
  warm(): void;
  /** Ends every worker; tasks that still run see their worker exit. */
  close(): Promise<void>;
}

// From source the worker is TypeScript, which Node runs as it is; in the package it is JavaScript.
const workerFile = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
// The SDK imports node:wasi, which warns on every start, though its WASI is not used.
const execArgv = ['--disable-warning=ExperimentalWarning'];
// Host objects of a module, such as tables, count here; its memory does not.
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/**
 * Threads that start when they are needed: `maxWorkers` at once, those that are being ended among them, of which `keepWarm` idle
 * ones stay for the next call.
 */
export function createWorkerPool(options: { readonly maxWorkers: number; readonly keepWarm: number }): WorkerPool {
  const { maxWorkers, keepWarm } = options;
  const places = createSlots(maxWorkers);
  // The one that rests longest is taken first: it has had the time to get ready for its next call.
  const idle = new Set<PoolWorker>();
  const live = new Set<PoolWorker>();
  let isClosed = false;

  const start = (): PoolWorker => {
    const worker = new PoolWorker(() => {
      live.delete(worker);
      idle.delete(worker);
    });
    live.add(worker);
    return worker;
  };

  return {
    async run(task, bounds, host) {
      const leave = await places.enter(bounds.signal);
      if (isClosed) {
        leave();
        throw new Error('the pool is closed');
      }
      const [worker = start()] = idle;
      idle.delete(worker);
      const end = await worker.run(task, bounds, host);
      if (end.type === 'report' && !isClosed && idle.size < keepWarm && live.has(worker)) {
        idle.add(worker);
        leave();
      } else {
        void worker.terminate().then(leave);
      }
      return end;
    },
    warm() {
      while (live.size < keepWarm && !isClosed) idle.add(start());
    },
    async close() {
      isClosed = true;
      await Promise.all([...live].map((worker) => worker.terminate()));
    },
  };
}

/** A worker thread with the way over which it gets answers while it sleeps. */
class PoolWorker {
  readonly #worker: Worker;
  readonly #answers: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** Modules that it has, the one that was sent last at the end. */
  readonly #modules = new BoundedMap<string, true>(keptModules);
  /** What its thread had spent when its last task ended, in ms. */
  #spentMs = 0;
  /** Hears what comes from the worker: a report, or its end. The guest has no way to post: what comes was built by worker.ts. */
  #hear: ((said: WorkerReport | Extract<TaskEnd, { type: 'died' }>) => void) | undefined;

  constructor(onExit: () => void) {
    const { port1, port2 } = new MessageChannel();
    const workerData = { port: port2, signal: this.#signal };
    const env = codeCacheEnvironment();
    const setup = { workerData, transferList: [port2], resourceLimits, execArgv, env, argv: [], stdin: false };
    this.#worker = new Worker(workerFile, setup);
    this.#answers = port1;
    port1.unref();
    this.#worker.on('message', (report: WorkerReport) => this.#hear?.(report));
    // Without a listener a crash would bring down the daemon.
    this.#worker.on('error', (error: unknown) => this.#hear?.({ type: 'died', code: readCode(error) }));
    this.#worker.once('exit', () => {
      this.#hear?.({ type: 'died', code: 'exit' });
      port1.close();
      onExit();
    });
    this.#worker.unref();
  }

  run(task: WorkerTask, { cpuMs, signal }: TaskBounds, host: TaskHost | undefined): Promise<TaskEnd> {
    const { promise, resolve } = Promise.withResolvers<TaskEnd>();
    const spentBeforeMs = this.#spentMs;
    let timer: NodeJS.Timeout | undefined;
    let hasEnded = false;
    const end = (result: TaskEnd): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (result.type === 'report' && 'usage' in result.report) this.#spentMs = result.report.usage.threadCpuMs;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#hear = undefined;
      this.#worker.unref();
      resolve(result);
    };
    const onAbort = (): void => end({ type: 'aborted' });
    const watchProcessor = async (): Promise<void> => {
      const leftMs = cpuMs - ((await this.#readProcessorMs()) - spentBeforeMs);
      if (leftMs <= 0) end({ type: 'cpu' });
      else if (!hasEnded) timer = setTimeout(watchProcessor, leftMs);
    };
    this.#worker.ref();
    this.#hear = (said) => {
      if (said.type === 'log') host?.onLog(said.line);
      else if (said.type === 'denied') host?.onDenied(said.name);
      else if (said.type === 'ask') void host?.onAsk(said).then((answer) => this.#answer(answer));
      else end(said.type === 'died' ? said : { type: 'report', report: said });
    };
    signal.addEventListener('abort', onAbort, { once: true });
    timer = setTimeout(watchProcessor, cpuMs);
    this.#worker.postMessage(this.#withoutKnown(task));
    if (signal.aborted) onAbort();
    return promise;
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  /** Copying a module to another thread costs more than a call: a worker gets each once. */
  #withoutKnown(task: WorkerTask): WorkerTask {
    if (task.type === 'compile') return task;
    const { module, ...call } = task.call;
    if (this.#modules.has(call.moduleKey)) return { type: 'run', call };
    this.#modules.set(call.moduleKey, true);
    return task;
  }

  #answer(answer: BorderAnswer): void {
    this.#answers.postMessage(answer);
    Atomics.add(this.#signal, 0, 1);
    Atomics.notify(this.#signal, 0);
  }

  /** What the worker's thread has spent so far; 0 while it starts and when it is gone, where other events end the task. */
  async #readProcessorMs(): Promise<number> {
    try {
      const { user, system } = await this.#worker.cpuUsage();
      return (user + system) / 1000;
    } catch {
      return 0;
    }
  }
}

function readCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}
