import { Worker } from 'node:worker_threads';
import { Counts } from '../collections/counts.ts';
import { createFairQueue } from '../concurrency/fair-queue.ts';
import { codeCacheEnvironment } from '../config/code-cache.ts';
import { quotas } from '../config/quotas.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { CheckerQuestions, CheckerUse, ToChecker, TypedFile } from './check-types.ts';

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

type RequestOf<Type extends keyof CheckerQuestions> = CheckerQuestions[Type]['request'];

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

/** Checks the types of texts that nobody vouches for, on a thread of its own that is started with the first of them. */
export type TypeChecker = ReturnType<typeof createTypeChecker>;

/** Creates a checker; its thread does one check after the other, callers in turn. `use`: what it is started for. */
export function createTypeChecker(bounds: CheckerBounds = usualCheckerBounds, use: CheckerUse = 'check') {
  const queue = createFairQueue<Job>();
  const waitingByCaller = new Counts();
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
    item.isWaiting = false;
    waitingByCaller.add(item.callerId, -1);
  }

  /** Returns what takes it out again, if it waits still. */
  function enter(item: Job): () => void {
    const count = waitingByCaller.of(item.callerId);
    if (count >= bounds.maxWaitingPerCaller || queue.size() >= bounds.maxWaiting) {
      throw new HotcellError('queue-full', `${queue.size()} scripts wait for a check of their types, ${count} of this caller.`);
    }
    waitingByCaller.add(item.callerId, 1);
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
    refuseLarge(question);
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
    /**
     * Rejects with `time-exceeded` or `memory-exceeded` when the types are too much for the checker, with `queue-full` when too many
     * of this caller wait, and with the reason of the signal.
     */
    check: (request: RequestOf<'check'>, by: CheckedBy) => ask<'check'>({ type: 'check', request }, by),
    /** Looks into a plugin; rejects like `check`, and with `payload-too-large` when it has more text than is looked at. */
    inspect: (request: RequestOf<'inspect'>, by: CheckedBy) => ask<'inspect'>({ type: 'inspect', request }, by),
    /** How many faults of syntax each variant of a text has. Rejects like `inspect`. */
    parse: (request: RequestOf<'parse'>, by: CheckedBy) => ask<'parse'>({ type: 'parse', request }, by),
    /** The files of a changed plugin in which one check is put back as it was; see `restoreCheck`. Rejects like `inspect`. */
    restore: (request: RequestOf<'restore'>, by: CheckedBy) => ask<'restore'>({ type: 'restore', request }, by),
    /** Starts the thread, where a check is likely to come soon. Must not throw. */
    warm: start,
    async close(): Promise<void> {
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

/** The texts of scripts are bounded where they come from. */
function countChars(question: ToChecker): number {
  const count = (files: readonly TypedFile[]) => files.reduce((sum, { text }) => sum + text.length, 0);
  switch (question.type) {
    case 'check':
      return 0;
    case 'inspect':
      return count(question.request.files);
    case 'parse':
      return question.request.text.length;
    case 'restore':
      return (count(question.request.before) + count(question.request.after)) / 2;
  }
}

function refuseLarge(question: ToChecker): void {
  const chars = countChars(question);
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
