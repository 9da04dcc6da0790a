import type { Recording } from '../border/border.ts';
import type { Config } from '../config/config-types.ts';
import type { Limits } from '../config/limits.ts';
import type { EventLog } from '../events/event.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { Store } from '../store/store-types.ts';
import { createToolPreparer } from '../tools/prepared-tool.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { seesTool } from '../tools/seen-by-callers.ts';
import type { ToolSettings } from '../tools/settings/tool-settings.ts';
import type { ToolSwitches } from '../tools/settings/tool-switches.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { ToolUses } from '../tools/tool-uses.ts';
import { createValidatorCache } from '../tools/validation/validator.ts';
import { createAcceptance } from './accept/accept.ts';
import type { BeforeCall } from './accept/before-call.ts';
import { createCallTurns } from './accept/call-turns.ts';
import { createCallerLimits } from './accept/caller-limits.ts';
import { createIdempotency } from './accept/idempotency.ts';
import type { ActiveCall } from './active-call.ts';
import type { CallBorderParts } from './attempt/call-border.ts';
import { createNestedCalls, type NestedCalls } from './attempt/nested-calls.ts';
import { createNextAttempt, type RunEscalation } from './attempt/next-attempt.ts';
import { createCallJourney } from './call.ts';
import type { ExplainGuestError, ToolCaller } from './call-types.ts';
import { createExecutionIds } from './record/execution-id.ts';
import { executionUnknown, maySee } from './record/execution-reader.ts';
import { createExecutionRecords } from './record/execution-records.ts';
import { createRecordingKeeper } from './record/recordings.ts';
import type { Engines } from './runner.ts';
import { waitAtMost, waitForEnd } from './time-limit.ts';
import { createDispatcher } from './wait/dispatcher.ts';
import { createDurableWaits } from './wait/durable-waits.ts';
import { createPendingApprovals, findLateRefusal } from './wait/pending-approvals.ts';
import { type FindServable, resumeCalls } from './wait/resume-calls.ts';

/** What the calls of a daemon are made of. */
export interface ToolCallerParts {
  readonly config: Pick<
    Config,
    'tools' | 'safeMode' | 'queue' | 'limits' | 'pluginLimits' | 'limitsWithoutGrant' | 'executions' | 'idempotency' | 'workers'
  >;
  /** What the operator laid down for the plugin of a file. */
  readonly limitsOf?: ((unitPath: string) => Partial<Limits> | undefined) | undefined;
  readonly registry: Pick<ToolRegistry, 'resolve'>;
  readonly engines: Engines;
  readonly store: Store;
  readonly events: EventLog;
  readonly capabilities: CallBorderParts['capabilities'];
  readonly approvals: Pick<Approvals, 'ask' | 'settled' | 'list' | 'withdrawOf' | 'waitingExecutions'>;
  /** A kept generation, current or not, of a plugin that may serve now; for calls that waited for a person. */
  readonly findServable?: FindServable;
  /** What operators set for single tools and switched off for all, while the daemon runs. */
  readonly settings?: Pick<ToolSettings, 'applyTo'> | undefined;
  readonly switches?: Pick<ToolSwitches, 'isOn'> | undefined;
  readonly toolUses?: Pick<ToolUses, 'note'> | undefined;
  /** Asked before a call enters: the hooks. */
  readonly beforeCall?: BeforeCall | undefined;
  /** Runs calls again on a higher engine; without it none is. */
  readonly escalation?: RunEscalation | undefined;
  readonly explainError: ExplainGuestError;
  /** What `context.config.get` and `context.env.get` may answer now; called before every slice. Must not throw. */
  readonly readView: CallBorderParts['readView'];
  readonly noteUse?: CallBorderParts['noteUse'];
  /** Takes secrets out of what calls get, log, leave behind and answer. */
  readonly redactor?: Redactor | undefined;
  /** Epoch ms. */
  readonly now?: () => number;
  /** How many calls an engine gets at once, those that wait at the border not counted; two a worker and two by default. */
  readonly runnableSlots?: number;
  /** Hears of faults in the daemon itself, with the execution they are logged under. Must not throw. */
  readonly onFault?: (error: unknown, executionId?: string) => void;
}

/** The calls of a daemon, with what the composition root needs beside them. */
export interface ToolCallerHandle extends ToolCaller {
  /** Calls that running calls make. */
  readonly nested: NestedCalls;
  /**
   * Goes on with the calls that waited for a person when the daemon ended: once when the last run's plugins serve again, and a
   * last time when all are built.
   */
  resume(isLast: boolean): void;
  /** A call that waits for a person began with this generation. */
  needsGeneration(generationId: string): boolean;
  readRecording(executionId: string): Promise<Recording | undefined>;
  /** Drains at once and writes the recordings that wait. */
  close(): Promise<void>;
}

/** After what was left was cancelled, engines get this long to say so. */
const cancelGraceMs = 5_000;

/** Creates the stages of calls, and what looks at calls under way from outside. */
export function createToolCaller(parts: ToolCallerParts): ToolCallerHandle {
  const { config, registry, engines, store, events, approvals, redactor, now = Date.now, onFault = () => {} } = parts;
  const active = new Map<string, ActiveCall>();
  /** Callers whose keys were revoked; ids of keys are not used again. */
  const shutOut = new Set<string>();
  /** Calls within calls that go on after a restart, until those above look for them. */
  const resumedBelow = new Map<string, ActiveCall>();
  let isDraining = false;
  let whenIdle: PromiseWithResolvers<void> | undefined;

  /** Entries of calls under way are as they were when the calls came. */
  const asSet = (entry: ToolEntry): ToolEntry => parts.settings?.applyTo(entry) ?? entry;
  const records = createExecutionRecords({ store, events, limits: config.executions, redactor });
  const { keepRecordingsPerTool: keepPerTool, maxRecordingBytes: maxBytes } = config.executions;
  const recordings = createRecordingKeeper({ store, keepPerTool, maxBytes, redactor, onFault });
  const dispatcher = createDispatcher({
    queue: config.queue,
    slots: parts.runnableSlots ?? config.workers.max * 2 + 2,
    now: () => performance.now(),
  });
  const waits = createDurableWaits({
    store,
    engines,
    find: (id) => active.get(id),
    now,
    onStored: (call) => {
      if (isDraining && call.request.parent === undefined) leave(call);
    },
    onFault,
  });
  const prepare = createToolPreparer(config, createValidatorCache(), parts.limitsOf);
  const acceptance = createAcceptance({
    config,
    registry,
    engines,
    idempotency: createIdempotency({
      store,
      keepMs: config.idempotency.keepMs,
      findQuestion: (executionId, caller) => approvals.list({ caller, status: 'open', executionId, limit: 1 })[0]?.id,
      now,
    }),
    limits: createCallerLimits({ now: () => performance.now() }),
    dispatcher,
    prepare,
    approvals,
    beforeCall: parts.beforeCall,
    switches: parts.switches,
    toolUses: parts.toolUses,
    nextId: createExecutionIds(now),
    isDraining: () => isDraining,
    store,
    active,
    now,
  });
  const pendingApprovals = createPendingApprovals({
    approvals,
    store,
    waits,
    now,
    findRefusal: (call) =>
      findLateRefusal(call, (entry, request) => acceptance.findRefusal(asSet(entry), request), parts.findServable),
    onFault,
  });
  const border: CallBorderParts = {
    capabilities: parts.capabilities,
    events,
    readView: parts.readView,
    noteUse: parts.noteUse,
    redactor,
    waits,
    setWaiting: dispatcher.setWaiting,
    onFault,
  };
  const { beforeEffect } = waits;
  const journey = createCallJourney({
    acceptance,
    turns: createCallTurns(),
    isParallelSafe: ({ ref, caller }) => registry.resolve(ref, (entry) => seesTool(caller, entry)).manifest.flags.isParallelSafe,
    pendingApprovals,
    dispatcher,
    engines,
    border,
    nextAttempt: createNextAttempt({ escalation: parts.escalation, events, beforeEffect, onFault }),
    records,
    recordings,
    explainError: parts.explainError,
    approvals,
    store,
    events,
    redactor,
    active,
    isShutOut: (callerId) => shutOut.has(callerId),
    onIdle: () => whenIdle?.resolve(),
    now,
    onFault,
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

  return {
    call: journey.carry,
    nested: createNestedCalls({
      find: (id) => active.get(id),
      takeResumed(executionId, question) {
        const key = `${executionId} ${question}`;
        const call = resumedBelow.get(key);
        resumedBelow.delete(key);
        return call;
      },
      call: journey.carry,
      dispatcher,
    }),
    cancel(executionId, caller) {
      const call = active.get(executionId);
      const owner = call?.record.caller ?? store.executions.get(executionId)?.caller;
      if (owner === undefined || !maySee(caller, owner)) throw executionUnknown(executionId);
      return call?.stop('cancelled') ?? false;
    },
    shutOut(callerId) {
      shutOut.add(callerId);
      for (const call of [...active.values()]) if (call.record.caller === callerId) call.stop('cancelled');
    },
    resume(isLast) {
      const findServable = parts.findServable ?? (() => undefined);
      const isActive = (id: string): boolean => active.has(id);
      const takeIn = (call: ActiveCall): void => {
        call.answered.catch(() => {});
        keepForAbove(call);
        void journey.carryOn(call);
      };
      resumeCalls({ store, approvals, records, prepare, findServable, isActive, isLast, takeIn, asSet, now, onFault });
    },
    needsGeneration: (id) => [...active.values()].some(({ isParked, record }) => isParked && record.generation === id),
    async ended(id, waitMs, signal) {
      const call = active.get(id);
      if (call !== undefined) await waitForEnd(call.answered, waitMs, signal);
    },
    load: () => ({ pending: dispatcher.pending(), running: dispatcher.running() }),
    drain,
    readRecording: recordings.read,
    readLogs: async (id) => active.get(id)?.log.lines() ?? (await recordings.read(id))?.logs ?? [],
    async close() {
      await drain(0);
      await recordings.flush();
    },
  };
}
