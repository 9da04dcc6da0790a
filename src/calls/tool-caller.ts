import { createToolPreparer } from '../tools/prepared-tool.ts';
import { seesTool } from '../tools/seen-by-callers.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import { createValidatorCache } from '../tools/validation/validator.ts';
import { createAcceptance } from './accept/accept.ts';
import { createCallTurns } from './accept/call-turns.ts';
import { createCallerLimits } from './accept/caller-limits.ts';
import { createIdempotency } from './accept/idempotency.ts';
import type { ActiveCall } from './active-call.ts';
import { createNestedCalls } from './attempt/nested-calls.ts';
import { createNextAttempt } from './attempt/next-attempt.ts';
import { createCallJourney } from './call.ts';
import type { ToolCallerParts } from './call-parts.ts';
import type { ToolCaller } from './call-types.ts';
import { createExecutionIds } from './record/execution-id.ts';
import { executionUnknown, maySee } from './record/execution-reader.ts';
import { createExecutionRecords } from './record/execution-records.ts';
import { createRecordingKeeper } from './record/recordings.ts';
import { waitAtMost, waitForEnd } from './time-limit.ts';
import { createDispatcher } from './wait/dispatcher.ts';
import { createDurableWaits } from './wait/durable-waits.ts';
import { createPendingApprovals, findLateRefusal } from './wait/pending-approvals.ts';
import { resumeCalls } from './wait/resume-calls.ts';

/** After what was left was cancelled, engines get this long to say so. */
const cancelGraceMs = 5_000;

/** The calls of a daemon, with what the composition root needs beside them. */
export type ToolCallerHandle = ReturnType<typeof createToolCaller>;

/** Creates the stages of calls, and what looks at calls under way from outside. */
export function createToolCaller(given: ToolCallerParts) {
  const active = new Map<string, ActiveCall>();
  const parts = { ...given, now: given.now ?? Date.now, onFault: given.onFault ?? (() => {}), active };
  const { config, registry, store, approvals, now } = parts;
  /** Callers whose keys were revoked; ids of keys are not used again. */
  const shutOut = new Set<string>();
  /** Calls within calls that go on after a restart, until those above look for them. */
  const resumedBelow = new Map<string, ActiveCall>();
  let isDraining = false;
  let whenIdle: PromiseWithResolvers<void> | undefined;

  /** Entries of calls under way are as they were when the calls came. */
  const asSet = (entry: ToolEntry): ToolEntry => parts.settings?.applyTo(entry) ?? entry;
  const records = createExecutionRecords({ ...parts, limits: config.executions });
  const { keepRecordingsPerTool: keepPerTool, maxRecordingBytes: maxBytes } = config.executions;
  const recordings = createRecordingKeeper({ ...parts, keepPerTool, maxBytes });
  const dispatcher = createDispatcher({
    queue: config.queue,
    slots: parts.runnableSlots ?? config.workers.max * 2 + 2,
    now: () => performance.now(),
  });
  const waits = createDurableWaits({
    ...parts,
    onStored: (call) => {
      if (isDraining && call.request.parent === undefined) leave(call);
    },
  });
  const prepare = createToolPreparer(config, createValidatorCache(), parts.limitsOf);
  const acceptance = createAcceptance({
    ...parts,
    idempotency: createIdempotency({
      store,
      keepMs: config.idempotency.keepMs,
      findQuestion: (executionId, caller) => approvals.list({ caller, status: 'open', executionId, limit: 1 })[0]?.id,
      now,
    }),
    limits: createCallerLimits({ now: () => performance.now() }),
    dispatcher,
    prepare,
    nextId: createExecutionIds(now),
    isDraining: () => isDraining,
  });
  const pendingApprovals = createPendingApprovals({
    ...parts,
    waits,
    findRefusal: (call) =>
      findLateRefusal(call, (entry, request) => acceptance.findRefusal(asSet(entry), request), parts.findServable),
  });
  const journey = createCallJourney({
    ...parts,
    acceptance,
    turns: createCallTurns(),
    isParallelSafe: ({ ref, caller }) => registry.resolve(ref, (entry) => seesTool(caller, entry)).manifest.flags.isParallelSafe,
    pendingApprovals,
    dispatcher,
    border: { ...parts, waits, setWaiting: dispatcher.setWaiting },
    nextAttempt: createNextAttempt({ ...parts, waits }),
    records,
    recordings,
    isShutOut: (callerId) => shutOut.has(callerId),
    onIdle: () => whenIdle?.resolve(),
  });

  /** Until the call above looks for it; one that ends before it does takes it along. */
  function keepForAbove(call: ActiveCall): void {
    const { parent } = call.request;
    const above = parent && active.get(parent.executionId);
    if (above === undefined) return;
    const key = `${parent?.executionId} ${parent?.question}`;
    const endLost = (): void => {
      if (resumedBelow.get(key) === call && resumedBelow.delete(key)) call.stop('cancelled');
    };
    resumedBelow.set(key, call);
    above.answered.then(endLost, endLost);
  }

  /** A call within a call is left with the one above it, which would hear else that it has ended. */
  function leave(call: ActiveCall): void {
    for (const each of [...active.values()]) {
      if (each.isParked && each.request.parent?.executionId === call.record.id) leave(each);
    }
    journey.leave(call);
  }

  const listRoots = (): ActiveCall[] => [...active.values()].filter(({ request }) => request.parent === undefined);

  async function drain(deadlineMs: number): Promise<void> {
    isDraining = true;
    for (const call of listRoots()) {
      if (call.isParked && (call.phase === 'approval' || waits.isAsking(call))) leave(call);
    }
    if (active.size > 0) {
      whenIdle ??= Promise.withResolvers<void>();
      await waitAtMost(whenIdle.promise, deadlineMs);
      for (const call of listRoots()) if (call.isParked) leave(call);
      for (const call of [...active.values()]) call.stop('cancelled');
      if (active.size > 0) await waitAtMost(whenIdle.promise, cancelGraceMs);
    }
    await store.committed();
  }

  const caller: ToolCaller = {
    call: journey.carry,
    cancel(executionId, by) {
      const call = active.get(executionId);
      const owner = call?.record.caller ?? store.executions.get(executionId)?.caller;
      if (owner === undefined || !maySee(by, owner)) throw executionUnknown(executionId);
      return call?.stop('cancelled') ?? false;
    },
    shutOut(callerId) {
      shutOut.add(callerId);
      for (const call of [...active.values()]) if (call.record.caller === callerId) call.stop('cancelled');
    },
    async ended(id, waitMs, signal) {
      const call = active.get(id);
      if (call !== undefined) await waitForEnd(call.answered, waitMs, signal);
    },
    readLogs: async (id) => active.get(id)?.log.lines() ?? (await recordings.read(id))?.logs ?? [],
    load: () => ({ pending: dispatcher.pending(), running: dispatcher.running() }),
    drain,
  };
  return {
    ...caller,
    /** Calls that running calls make. */
    nested: createNestedCalls({
      active,
      takeResumed(executionId, question) {
        const key = `${executionId} ${question}`;
        const call = resumedBelow.get(key);
        resumedBelow.delete(key);
        return call;
      },
      call: journey.carry,
      dispatcher,
    }),
    /**
     * Goes on with the calls that waited for a person when the daemon ended: once when the last run's plugins serve again, and a
     * last time when all are built.
     */
    resume(isLast: boolean): void {
      const takeIn = (call: ActiveCall): void => {
        call.answered.catch(() => {});
        keepForAbove(call);
        void journey.carryOn(call);
      };
      resumeCalls({ ...parts, records, prepare, findServable: parts.findServable ?? (() => undefined), isLast, takeIn, asSet });
    },
    /** A call that waits for a person began with this generation. */
    needsGeneration: (id: string): boolean =>
      [...active.values()].some(({ isParked, record }) => isParked && record.generation === id),
    readRecording: recordings.read,
    /** Drains at once and writes the recordings that wait. */
    async close(): Promise<void> {
      await drain(0);
      await recordings.flush();
    },
  };
}
