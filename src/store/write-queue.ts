import type { DatabaseSync } from 'node:sqlite';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { describeStoreError, isRowError } from './sqlite-error.ts';

/** One write that waits for the next transaction. */
export interface QueuedWrite {
  /** Runs the statement. May run again when the transaction failed. */
  apply(): void;
  /** What the journal needs to do it again after a kill; absent, or undefined, where only a transaction keeps it. */
  entry?(): JournalEntry | undefined;
  /** True while it does no harm to leave the write for a later transaction, which may find it changed. */
  canWait?(): boolean;
  /** The write is committed, or was given up. Must not throw. */
  settle?(): void;
}

/** What the owner of the queue hears. Neither may throw. */
export interface WriteQueueHooks {
  readonly onWriteError: (error: HotcellError) => void;
  readonly onCommit: () => void;
  /** A transaction failed as a whole; it is tried again. */
  readonly onFailure: (error: HotcellError) => void;
  /** The disk is full: true when there is room now, so that it may be tried again at once. */
  readonly makeRoom: (error: HotcellError) => boolean;
}

const retryMs = 250;
/** How long a write lies that nobody waits for; one that only began up to twice as long. */
const restMs = 8;
/** While others join, the first waits at most this long, and no longer than until there are so many. */
const joinMs = 0.3;
const joinEnough = 16;
/** After a commit with a single waiter so many more are tried with a wait before waiting is given up. */
const joinPatience = 8;
const maxKeptWrites = 20_000;

/**
 * Groups writes into transactions. A write lies for a moment, so that many share one; what somebody waits for is kept in this turn of
 * the event loop, in the journal if that is enough. Where it takes a transaction and waiters come in numbers, that comes after the
 * first turn in which nobody joined: it costs about as much as the rest of a call, and the more share it the better.
 */
export type WriteQueue = ReturnType<typeof createWriteQueue>;

/**
 * Creates the queue of writes. A write that is at fault itself (a constraint) is given up and reported; when the database cannot
 * be written (disk full), writes stay queued and are tried again every 250 ms, the oldest of more than 20 000 are given up.
 */
export function createWriteQueue(
  database: DatabaseSync,
  { onWriteError, onCommit, onFailure, makeRoom }: WriteQueueHooks,
  journal?: Pick<Journal, 'append' | 'clear'>,
) {
  const begin = database.prepare('begin immediate');
  const commit = database.prepare('commit');
  let waiting: QueuedWrite[] = [];
  /** Waiting writes that are not in the journal. */
  let unkept: QueuedWrite[] = [];
  /** Waiting writes that the journal has: they were acknowledged. */
  const kept = new Set<QueuedWrite>();
  let batch: PromiseWithResolvers<void> | undefined;
  let isSoon = false;
  let later: NodeJS.Timeout | undefined;
  /** What has lain since the timer before the last. */
  let rested: ReadonlySet<QueuedWrite> = new Set();
  let waiters = 0;
  /** Somebody waits for the writes that can wait, too. */
  let isAllWanted = false;
  let firstWaiterAt = 0;
  /** How many waited when the last turn looked. */
  let joined = 0;
  let patience = 0;
  /** Somebody's write was committed in this turn already. */
  let hasCommitted = false;
  let isClosed = false;
  let refusal: HotcellError | undefined;
  let retry: NodeJS.Timeout | undefined;
  /** The code of the failure that was told, until a transaction succeeds. */
  let failing: string | undefined;

  function commitLater(): void {
    if (isSoon || later !== undefined) return;
    later = setTimeout(() => {
      later = undefined;
      if (isAllWanted) flush();
      else commitWithout((write) => !rested.has(write));
      rested = new Set(waiting);
    }, restMs);
  }

  /** What only began may well have ended by the next transaction, and is then one write instead of two. */
  function commitWithout(mayStay: (write: QueuedWrite) => boolean): void {
    if (refusal !== undefined) {
      answerWaiters(refusal);
      return;
    }
    const begun: QueuedWrite[] = [];
    const rest: QueuedWrite[] = [];
    for (const write of waiting) (write.canWait?.() && mayStay(write) ? begun : rest).push(write);
    if (rest.length === 0) {
      answerWaiters(undefined);
    } else {
      waiting = rest;
      commitWaiting();
      waiting = begun.concat(waiting);
      unkept = begun.concat(unkept);
    }
    if (begun.length > 0) commitLater();
  }

  function commitSoon(): void {
    if (isSoon) return;
    isSoon = true;
    joined = 0;
    firstWaiterAt = performance.now();
    // One call at a time need not wait for the end of the turn; a second one in the same turn does.
    if (hasCommitted) {
      setImmediate(runTurn);
      return;
    }
    hasCommitted = true;
    setImmediate(() => {
      hasCommitted = false;
    });
    queueMicrotask(runTurn);
  }

  /** Puts into the journal what somebody waits for; false when that is not enough. */
  function keepInJournal(): boolean {
    if (journal === undefined || isAllWanted || refusal !== undefined) return false;
    const begun: QueuedWrite[] = [];
    const ended: QueuedWrite[] = [];
    const entries: JournalEntry[] = [];
    for (const write of unkept) {
      if (write.canWait?.()) {
        begun.push(write);
        continue;
      }
      const entry = write.entry?.();
      if (entry === undefined) return false;
      entries.push(entry);
      ended.push(write);
    }
    if (!journal.append(entries)) return false;
    for (const write of ended) kept.add(write);
    unkept = begun;
    return true;
  }

  function runTurn(): void {
    if (keepInJournal()) {
      isSoon = false;
      answerWaiters(undefined);
      commitLater();
      return;
    }
    const hasJoined = waiters > joined;
    joined = waiters;
    if (patience > 0 && hasJoined && waiters < joinEnough && performance.now() - firstWaiterAt < joinMs) {
      setImmediate(runTurn);
      return;
    }
    isSoon = false;
    if (isAllWanted) flush();
    else commitWithout(() => true);
  }

  function flush(): void {
    // While the disk is full every attempt would write and roll back the whole queue: answer from the last one.
    if (refusal === undefined) commitWaiting();
    else answerWaiters(refusal);
  }

  function commitWaiting(): void {
    const writes = waiting;
    if (writes.length === 0) return;
    waiting = [];
    unkept = [];
    if (waiters > 0) patience = waiters > 1 ? joinPatience : Math.max(0, patience - 1);
    try {
      begin.run();
      const faulty = applyAll(writes);
      commit.run();
      failing = undefined;
      // What the journal has was all among these; what only began was never in it.
      journal?.clear();
      kept.clear();
      onCommit();
      for (const write of writes) write.settle?.();
      if (faulty !== undefined) onWriteError(faulty);
      answerWaiters(faulty);
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      waiting = writes.concat(waiting);
      unkept = waiting.slice();
      const failure = describeStoreError(error);
      if (failure.code === 'storage-full' && makeRoom(failure)) commitWaiting();
      else rest(failure);
    }
  }

  function rest(error: HotcellError): void {
    refusal = error;
    retry = setTimeout(tryAgain, retryMs).unref();
    // Said once, not with every attempt.
    if (failing !== error.code) onWriteError(error);
    failing = error.code;
    onFailure(error);
    answerWaiters(error);
    const excess = new Set(waiting.filter((write) => !kept.has(write)).slice(0, Math.max(0, waiting.length - maxKeptWrites)));
    waiting = waiting.filter((write) => !excess.has(write));
    for (const write of excess) write.settle?.();
    if (excess.size > 0) onWriteError(new HotcellError(error.code, `${excess.size} records were lost: ${error.message}`));
  }

  function tryAgain(): void {
    refusal = undefined;
    commitWaiting();
  }

  function answerWaiters(error: HotcellError | undefined): void {
    const answered = batch;
    batch = undefined;
    waiters = 0;
    isAllWanted = false;
    if (error === undefined) answered?.resolve();
    else answered?.reject(error);
  }

  function join(): Promise<void> {
    if (waiting.length === 0) return Promise.resolve();
    batch ??= Promise.withResolvers<void>();
    waiters++;
    commitSoon();
    return batch.promise;
  }

  return {
    add(write: QueuedWrite): void {
      if (isClosed) {
        onWriteError(new HotcellError('shutting-down', 'A record came after the stop of the store and was lost.'));
        return;
      }
      waiting.push(write);
      unkept.push(write);
      commitLater();
    },
    /** Adds a write that stands in the journal since the last run. */
    addKept(write: QueuedWrite): void {
      waiting.push(write);
      kept.add(write);
    },
    /** Resolves when everything added so far is committed; all waiters of a batch share one promise. */
    committed(): Promise<void> {
      isAllWanted = waiting.length > 0;
      return join();
    },
    /** Resolves when no kill of the process takes away what was added so far, but for writes that can wait. */
    committedEnds: join,
    /** True when nothing waits for a transaction. */
    isEmpty: (): boolean => waiting.length === 0,
    /** Commits now. Never throws: a failure goes to the waiters and to `onWriteError`. */
    flush,
    /** Commits what is left and stops. */
    close(): void {
      isClosed = true;
      clearTimeout(later);
      clearTimeout(retry);
      commitWaiting();
      clearTimeout(retry);
      const lost = waiting.filter((write) => !kept.has(write)).length;
      if (lost > 0) onWriteError(new HotcellError('storage-failed', `${lost} records were lost at the stop of the store.`));
      waiting = [];
    },
  };
}

/** Applies every write; one that is at fault itself is skipped, and the first such failure returned. */
function applyAll(writes: readonly QueuedWrite[]): HotcellError | undefined {
  let faulty: HotcellError | undefined;
  for (const write of writes) {
    try {
      write.apply();
    } catch (error) {
      if (!isRowError(error)) throw error;
      faulty ??= new HotcellError('internal', 'A record does not fit the database and was given up.', { cause: error });
    }
  }
  return faulty;
}
