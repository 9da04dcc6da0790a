import { omitUndefined } from '../../config/json-object.ts';
import type { Author } from '../../units/unit.ts';
import { findSource } from '../discovery/plugin-source.ts';
import type { ReloadResult } from '../supervisor-types.ts';
import { compareSeen } from '../watch/seen.ts';
import { nameOfPlugin, type PluginRecord } from './plugin-record.ts';
import type { Publisher } from './publisher.ts';
import type { LookOutcome, Reconciler } from './reconciler.ts';

/** What the queue of a plugin works with. */
interface LookQueueParts {
  readonly record: PluginRecord;
  readonly reconciler: Reconciler;
  readonly publisher: Publisher;
  /** Told when the plugin is gone for good. Must not throw. */
  readonly onGone: () => void;
  /** Told after every look that came to a decision. Must not throw. */
  readonly onDecided: () => void;
  readonly onFault: (error: unknown) => void;
}

/** How long an empty, failing or vanished file may become good again before that counts. */
const graceMs = 100;
/** When to look again after the last hint: the watch may have dropped it, or the clock of the file system was too coarse. */
const recheckAfterMs = [60, 340];
/** What the machine could not do is tried again after this, and after twice as long each time that it still cannot. */
const firstRetryMs = 500;
const maxRetryMs = 30_000;
const firstPauseMs = 5;
const maxPauseMs = 100;

/** One plugin at work. */
export type LookQueue = ReturnType<typeof createLookQueue>;

/** Creates the queue of one plugin: everything that happens to it happens one after the other here. */
export function createLookQueue(parts: LookQueueParts) {
  const { record, reconciler, publisher, onFault } = parts;
  const closing = new AbortController();
  let tail: Promise<unknown> = Promise.resolve();
  let isLookQueued = false;
  let waitingOrders = 0;
  let wake: (() => void) | undefined;
  let hintedAtMs: number | undefined;
  let recheck: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let retryMs = firstRetryMs;

  function enqueue<Result>(task: () => Result | Promise<Result>): Promise<Result> {
    const result = tail.then(task);
    tail = result.catch(() => undefined);
    return result;
  }

  function queueLook(deep: boolean): void {
    wake?.();
    if (isLookQueued || closing.signal.aborted) return;
    isLookQueued = true;
    enqueue(() => {
      isLookQueued = false;
      return settle({ deep, isPatient: true, reason: 'the file changed' });
    }).catch(onFault);
  }

  function armRechecks(step = 0): void {
    clearTimeout(recheck);
    const delayMs = recheckAfterMs[step];
    if (delayMs === undefined || closing.signal.aborted) return;
    recheck = setTimeout(() => {
      queueLook(true);
      armRechecks(step + 1);
    }, delayMs);
    recheck.unref();
  }

  /** The files are what they were, so nothing else gives a reason to look again. */
  function armRetry(): void {
    publisher.note(record, { type: 'seen', seen: undefined });
    clearTimeout(retry);
    if (closing.signal.aborted) return;
    retry = setTimeout(() => queueLook(true), retryMs);
    retry.unref();
    retryMs = Math.min(2 * retryMs, maxRetryMs);
  }

  interface Settling {
    readonly deep: boolean;
    /** Gives what is not good a grace to become so. */
    readonly isPatient: boolean;
    readonly isExplicit?: boolean;
    readonly reason: string;
    readonly author?: Author;
  }

  async function settle(settling: Settling): Promise<{ readonly changed: boolean }> {
    try {
      return await lookUntilDecided(settling);
    } finally {
      parts.onDecided();
    }
  }

  /** Looks until there is a result that counts. */
  async function lookUntilDecided(settling: Settling): Promise<{ readonly changed: boolean }> {
    const startedAtMs = performance.now();
    for (let pauseMs = firstPauseMs; !closing.signal.aborted; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const verdict = await reconciler.look(record, {
        deep: settling.deep,
        isExplicit: settling.isExplicit ?? false,
        reason: settling.reason,
        author: settling.author ?? 'operator',
        elapsedMs: () => roundMs(performance.now() - (hintedAtMs ?? startedAtMs)),
        signal: closing.signal,
      });
      if (verdict.kind === 'done') {
        if (verdict.changed) noteDuration(startedAtMs);
        retryMs = firstRetryMs;
        hintedAtMs = undefined;
        return verdict;
      }
      if (verdict.kind === 'unsettled') {
        await pause(pauseMs);
        continue;
      }
      // What is cut short by the end of the daemon is judged by the next one.
      if (settling.isPatient && ((await becomesBetter(verdict)) || closing.signal.aborted)) continue;
      return count(verdict, startedAtMs);
    }
    return { changed: false };
  }

  /** Waits out the grace; true as soon as the file is another one than the one that was judged. */
  async function becomesBetter(verdict: Extract<LookOutcome, { kind: 'failed' | 'gone' }>): Promise<boolean> {
    const deadlineMs = performance.now() + graceMs;
    while (!closing.signal.aborted && waitingOrders === 0) {
      const restMs = deadlineMs - performance.now();
      if (restMs > 0) await pause(restMs);
      const isLast = performance.now() >= deadlineMs;
      if (hasChanged(verdict, isLast)) return true;
      if (isLast) return false;
    }
    return false;
  }

  function hasChanged(verdict: Extract<LookOutcome, { kind: 'failed' | 'gone' }>, deep: boolean): boolean {
    const source = findSource(record.source.root, record.source.name);
    if (verdict.kind === 'gone') return source !== undefined;
    return source === undefined || compareSeen(verdict.seen, source, { deep }).kind === 'changed';
  }

  function count(verdict: Extract<LookOutcome, { kind: 'failed' | 'gone' }>, startedAtMs: number) {
    const durationMs = noteDuration(startedAtMs);
    hintedAtMs = undefined;
    if (verdict.kind === 'gone') {
      publisher.apply(record, { type: 'vanished' }, { reason: 'the file was removed' });
      // Should the file come back, another queue takes it in.
      end();
      parts.onGone();
    } else {
      reconciler.remember(record, verdict.seen);
      if (verdict.outcome.isPassing) armRetry();
      const { diagnostic, escalation } = verdict.outcome;
      publisher.apply(record, { type: 'failed', diagnostic, escalation }, { reason: diagnostic.message, durationMs });
    }
    return { changed: true };
  }

  function noteDuration(startedAtMs: number): number {
    const lastReloadMs = roundMs(performance.now() - (hintedAtMs ?? startedAtMs));
    publisher.note(record, { type: 'timed', lastReloadMs });
    return lastReloadMs;
  }

  async function pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    wake = undefined;
  }

  function end(): void {
    closing.abort();
    clearTimeout(recheck);
    clearTimeout(retry);
    wake?.();
  }

  /** Runs what somebody ordered: a look that only waits for something better gives way. */
  async function order<Result>(task: () => Result | Promise<Result>): Promise<Result> {
    waitingOrders += 1;
    wake?.();
    return enqueue(() => {
      waitingOrders -= 1;
      return task();
    });
  }

  return {
    record,
    /** Something about it may have changed. Looks at once, and twice more when the hints have ended. */
    poke(): void {
      hintedAtMs ??= performance.now();
      queueLook(false);
      armRechecks();
    },
    /** Looks once, for what a watch may have missed. */
    glance: () => queueLook(false),
    /** Looks and waits for the result; a failure counts at once. */
    check: async (reason: string) => void (await order(() => settle({ deep: false, isPatient: false, reason }))),
    reload: (reason: string, author: Author = 'operator'): Promise<ReloadResult> =>
      order(async () => {
        const startedAtMs = performance.now();
        const { changed } = await settle({ deep: true, isPatient: false, isExplicit: true, reason, author });
        return describeReload(record, changed, roundMs(performance.now() - startedAtMs));
      }),
    /** Runs a change of its state between two looks. */
    run: order,
    async close(): Promise<void> {
      end();
      await tail;
    },
  };
}

/** What a person is told of a reload. */
export function describeReload(record: PluginRecord, changed: boolean, durationMs: number): ReloadResult {
  const { state } = record.lifecycle;
  return {
    name: nameOfPlugin(record),
    ok: state === 'ready' || (state === 'pending-grant' && record.escalation === undefined),
    changed,
    state,
    durationMs,
    ...omitUndefined({ generation: record.live?.generation.number, diagnostic: record.diagnostic }),
  };
}

function roundMs(ms: number): number {
  return Math.round(ms * 100) / 100;
}
