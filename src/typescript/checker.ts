import { Worker } from 'node:worker_threads';
import { createFairQueue } from '../concurrency/fair-queue.ts';
import { codeCacheEnvironment } from '../config/code-cache.ts';
import { quotas } from '../config/quotas.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type {
  CheckerQuestions,
  CheckerUse,
  CheckRequest,
  CheckResult,
  InspectRequest,
  InspectResult,
  ParseRequest,
  RestoreRequest,
  ToChecker,
  TypedFile,
} from './check-types.ts';

/** Checks the types of texts that nobody vouches for, on a thread of its own that is started with the first of them. */
export interface TypeChecker {
  /**
   * Rejects with `time-exceeded` or `memory-exceeded` when the types are too much for the checker, with `queue-full` when too many
   * of this caller wait, and with the reason of the signal.
   */
  check(request: CheckRequest, by: CheckedBy): Promise<CheckResult>;
  /** Looks into a plugin; rejects like `check`, and with `payload-too-large` when it has more text than is looked at. */
  inspect(request: InspectRequest, by: CheckedBy): Promise<InspectResult>;
  /** How many faults of syntax each variant of a text has. Rejects like `inspect`. */
  parse(request: ParseRequest, by: CheckedBy): Promise<readonly number[]>;
  /** The files of a changed plugin in which one check is put back as it was; see `restoreCheck`. Rejects like `inspect`. */
  restore(request: RestoreRequest, by: CheckedBy): Promise<readonly TypedFile[] | undefined>;
  /** Starts the thread, where a check is likely to come soon. Must not throw. */
  warm(): void;
  close(): Promise<void>;
}

/** Whose question it is. */
interface CheckedBy {
  readonly callerId: string;
  readonly signal: AbortSignal;
}

/** Bounds of the checker. */
export interface CheckerBounds {
  /** Of one check. */
  readonly maxCheckMs: number;
  readonly maxHeapMb: number;
  /** Checks of one caller, and of all, that wait. */
  readonly maxWaitingPerCaller: number;
  readonly maxWaiting: number;
  /** The thread ends when nothing came for so long. */
  readonly idleMs: number;
}

/** What holds unless a test says otherwise. */
export const usualCheckerBounds: CheckerBounds = {
  maxCheckMs: 10_000,
  maxHeapMb: 768,
  maxWaitingPerCaller: quotas['types.waiting'].perCaller,
  maxWaiting: quotas['types.waiting'].inAll,
  idleMs: 300_000,
};

/** For repairs: they are few, so that the memory is given back soon. */
export const repairCheckerBounds: CheckerBounds = { ...usualCheckerBounds, maxHeapMb: 512, idleMs: 60_000 };

interface Job {
  readonly question: ToChecker;
  readonly callerId: string;
  readonly unitPath: string;
  /** Hears the next message of the thread as the answer. */
  readonly listen: (thread: Worker) => void;
  readonly reject: (error: unknown) => void;
  isWaiting: boolean;
}

const workerFile = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
/** The thread reads a few megabytes of types when it starts: no check is to blame for a busy machine. */
const maxStartMs = 120_000;

/** Texts of one plugin that are looked into; a program of this size takes seconds. */
const maxInspectedChars = 1_000_000;

/** Creates a checker; its thread does one check after the other, callers in turn. `use`: what it is started for. */
export function createTypeChecker(bounds: CheckerBounds = usualCheckerBounds, use: CheckerUse = 'check'): TypeChecker {
  const queue = createFairQueue<Job>();
  const waitingByCaller = new Map<string, number>();
  let worker: Worker | undefined;
  let isReady = false;
  let job: Job | undefined;
  let timer: NodeJS.Timeout | undefined;
  let idle: NodeJS.Timeout | undefined;
  const ending = new Set<Promise<unknown>>();

  function start(): void {
    if (worker !== undefined) return;
    const started = new Worker(workerFile, {
      resourceLimits: { maxOldGenerationSizeMb: bounds.maxHeapMb, stackSizeMb: 4 },
      env: codeCacheEnvironment(),
      workerData: use,
      argv: [],
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdin: false,
    });
    worker = started;
    isReady = false;
    started.unref();
    started.on('message', () => {
      if (worker === started) goOn();
    });
    started.on('error', (error) => {
      if (worker === started) fail(explainEnd(error, bounds.maxHeapMb));
    });
    setTimer(maxStartMs, () => fail(new Error('the thread that checks types did not start')));
  }

  function setTimer(ms: number, onOver: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(onOver, ms);
    timer.unref();
  }

  /** It can work, or has answered. */
  function goOn(): void {
    clearTimeout(timer);
    isReady = true;
    job = undefined;
    next();
  }

  /** The thread is not to be had any more; whoever waits gets a new one. */
  function fail(error: unknown): void {
    const failed = job ?? (isReady ? undefined : takeNext());
    job = undefined;
    stop();
    failed?.reject(error);
    if (queue.size() > 0) start();
  }

  function stop(): void {
    clearTimeout(timer);
    const ended = worker?.terminate();
    worker = undefined;
    isReady = false;
    if (ended === undefined) return;
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  }

  function takeNext(): Job | undefined {
    const next = queue.take(() => 'yes');
    if (next !== undefined) countOut(next);
    return next;
  }

  function next(): void {
    clearTimeout(idle);
    if (worker === undefined || !isReady || job !== undefined) return;
    job = takeNext();
    if (job === undefined) {
      idle = setTimeout(stop, bounds.idleMs).unref();
      return;
    }
    setTimer(bounds.maxCheckMs, () => fail(tooSlow(bounds.maxCheckMs)));
    job.listen(worker);
    worker.postMessage(job.question);
  }

  function countOut(item: Job): void {
    const { callerId } = item;
    item.isWaiting = false;
    const count = (waitingByCaller.get(callerId) ?? 1) - 1;
    if (count === 0) waitingByCaller.delete(callerId);
    else waitingByCaller.set(callerId, count);
  }

  /** Returns what takes it out again, if it waits still. */
  function enter(item: Job): () => void {
    const count = waitingByCaller.get(item.callerId) ?? 0;
    if (count >= bounds.maxWaitingPerCaller || queue.size() >= bounds.maxWaiting) {
      throw new HotcellError('queue-full', `${queue.size()} scripts wait for a check of their types, ${count} of this caller.`);
    }
    waitingByCaller.set(item.callerId, count + 1);
    const place = queue.push(item);
    return () => {
      if (!item.isWaiting) return;
      queue.remove(place);
      countOut(item);
    };
  }

  async function ask<Type extends keyof CheckerQuestions>(
    question: Extract<ToChecker, { type: Type }>,
    { callerId, signal }: CheckedBy,
  ): Promise<CheckerQuestions[Type]['result']> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<CheckerQuestions[Type]['result']>();
    const listen = (thread: Worker): void => void thread.once('message', resolve);
    const leave = enter({ question, callerId, unitPath: '', listen, reject, isWaiting: true });
    // One that is under way goes on to its end or its bound: another thread would cost the others more.
    const giveUp = (): void => {
      leave();
      reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    start();
    next();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  return {
    check: async (request, by) => ask<'check'>({ type: 'check', request }, by),
    async inspect(request, by) {
      refuseLarge(request.files.reduce((sum, { text }) => sum + text.length, 0));
      return ask<'inspect'>({ type: 'inspect', request }, by);
    },
    async parse(request, by) {
      refuseLarge(request.text.length);
      return ask<'parse'>({ type: 'parse', request }, by);
    },
    async restore(request, by) {
      refuseLarge([...request.before, ...request.after].reduce((sum, { text }) => sum + text.length, 0) / 2);
      return ask<'restore'>({ type: 'restore', request }, by);
    },
    warm: start,
    async close() {
      clearTimeout(idle);
      stop();
      const over = new HotcellError('cancelled', 'The daemon is stopping.');
      job?.reject(over);
      job = undefined;
      for (let each = takeNext(); each !== undefined; each = takeNext()) each.reject(over);
      await Promise.all(ending);
    },
  };
}

function refuseLarge(chars: number): void {
  if (chars <= maxInspectedChars) return;
  throw new HotcellError('payload-too-large', `The plugin has ${chars} characters; ${maxInspectedChars} are looked into.`);
}

function explainEnd(error: unknown, maxHeapMb: number): unknown {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') return tooLarge(maxHeapMb);
  // A text that nests so deep ends the parser itself.
  if (error instanceof RangeError)
    return new HotcellError('stack-exceeded', 'The text nests deeper than its types can be checked.');
  return error;
}

function tooSlow(ms: number): HotcellError {
  return new HotcellError('time-exceeded', `The types could not be checked within ${ms} ms.`, { fix: 'Use simpler types.' });
}

function tooLarge(mb: number): HotcellError {
  return new HotcellError('memory-exceeded', `The check of the types took more than ${mb} MB.`, { fix: 'Use simpler types.' });
}
