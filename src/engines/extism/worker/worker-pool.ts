import { MessageChannel, Worker } from 'node:worker_threads';
import type { BorderAnswer } from '../../../border/border.ts';
import { BoundedMap } from '../../../collections/bounded-map.ts';
import { codeCacheEnvironment } from '../../../config/code-cache.ts';
import { keptModules, type WorkerReport } from './worker-messages.ts';

/** A worker thread with the way over which it gets answers while it sleeps. */
export interface PoolWorker {
  readonly worker: Worker;
  readonly answer: (answer: BorderAnswer) => void;
  /** Modules that it has, the one that was sent last at the end. */
  readonly moduleKeys: BoundedMap<string, true>;
  /** What its thread had spent when its last task ended, in ms. */
  spentMs: number;
  /** Whom the task that runs tells what the worker says; set for as long as it runs. */
  hear?: ((said: WorkerSaid) => void) | undefined;
}

/** What comes from a worker: a report, or its end. The guest has no way to post: what comes was built by worker.ts. */
export type WorkerSaid = WorkerReport | { readonly type: 'died'; readonly code: string };

/** Worker threads, each for one task at a time. */
export interface WorkerPool {
  /** A worker, warm if there is one; waits in line when all are busy. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<PoolWorker>;
  /** Gives a worker back; one that is not fit for another task is ended and its place is free at once. */
  release(worker: PoolWorker, isFit: boolean): void;
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

/** How many threads there may be. */
export interface WorkerPoolOptions {
  /** Threads at once, those that are being ended among them. */
  readonly maxWorkers: number;
  /** Idle ones that stay for the next call. */
  readonly keepWarm: number;
}

/** Threads that start when they are needed. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const idle: PoolWorker[] = [];
  const live = new Set<PoolWorker>();
  const line: (() => void)[] = [];
  let isClosed = false;

  const serveNext = (): void => line.shift()?.();

  const start = (): PoolWorker => {
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const options = { resourceLimits, execArgv, env: codeCacheEnvironment(), argv: [], stdin: false };
    const worker = new Worker(workerFile, { ...options, workerData: { port: port2, signal }, transferList: [port2] });
    port1.unref();
    const started: PoolWorker = {
      worker,
      moduleKeys: new BoundedMap(keptModules),
      spentMs: 0,
      answer: (answer) => {
        port1.postMessage(answer);
        Atomics.add(signal, 0, 1);
        Atomics.notify(signal, 0);
      },
    };
    live.add(started);
    worker.on('message', (report: WorkerReport) => started.hear?.(report));
    // Without a listener a crash would bring down the daemon.
    worker.on('error', (error: unknown) => started.hear?.({ type: 'died', code: readCode(error) }));
    worker.once('exit', () => {
      started.hear?.({ type: 'died', code: 'exit' });
      port1.close();
      live.delete(started);
      const index = idle.indexOf(started);
      if (index >= 0) idle.splice(index, 1);
      serveNext();
    });
    worker.unref();
    return started;
  };

  // The one that rests longest has had the time to get ready for its next call.
  const take = (): PoolWorker | undefined => idle.shift() ?? (live.size < options.maxWorkers ? start() : undefined);

  return {
    async acquire(signal) {
      for (;;) {
        signal.throwIfAborted();
        if (isClosed) throw new Error('the pool is closed');
        const worker = take();
        if (worker) return worker;
        await waitInLine(line, signal);
      }
    },
    release(worker, isFit) {
      if (isFit && !isClosed && idle.length < options.keepWarm && live.has(worker)) {
        idle.push(worker);
        serveNext();
      } else {
        void worker.worker.terminate();
      }
    },
    warm() {
      while (live.size < options.keepWarm && !isClosed) idle.push(start());
    },
    async close() {
      isClosed = true;
      for (const wake of line.splice(0)) wake();
      await Promise.all([...live].map(({ worker }) => worker.terminate()));
    },
  };
}

function readCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}

/** Resolves when it is this one's turn; rejects and leaves the line when the signal aborts. */
function waitInLine(line: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      const index = line.indexOf(wake);
      if (index >= 0) line.splice(index, 1);
      reject(signal.reason);
    };
    const wake = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    line.push(wake);
  });
}
