import { type ResourceLimits, Worker } from 'node:worker_threads';

/** What a thread may use, and how it is told that it gave no answer: `reason` continues a sentence about what it read. */
export interface ThreadBounds {
  readonly maxMs: number;
  readonly resourceLimits: ResourceLimits;
  /** Nothing when absent. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly fail: (reason: string, cause?: unknown) => Error;
  /** Made instead of `fail` when the time is over. */
  readonly failSlow?: () => Error;
}

/**
 * Has a thread of its own answer one question, for what may be made to be slow or huge. The module in `file` finds the question in
 * `workerData` and posts one message. Rejects with what `fail` makes, or with the reason of the signal; the thread is gone then.
 */
export async function askThread<Answer>(
  file: URL,
  question: unknown,
  { maxMs, resourceLimits, env = {}, signal, fail, failSlow }: ThreadBounds,
): Promise<Answer> {
  signal?.throwIfAborted();
  const worker = new Worker(file, {
    workerData: question,
    resourceLimits,
    env,
    argv: [],
    stdin: false,
    stdout: true,
    stderr: true,
  });
  const ended = Promise.withResolvers<Answer>();
  worker.once('message', (answer: Answer) => ended.resolve(answer));
  worker.once('error', (cause) => ended.reject(fail('it is too large or too deep to be read', cause)));
  worker.once('exit', () => ended.reject(fail('reading it ended early')));
  const tooSlow = failSlow ?? (() => fail(`it could not be read within ${maxMs} ms`));
  const timer = setTimeout(() => ended.reject(tooSlow()), maxMs);
  const abort = () => ended.reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await ended.promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    await worker.terminate();
  }
}
