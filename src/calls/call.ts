import type { Recording } from '../border/border.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { createToolPreparer } from '../tools/prepared-tool.ts';
import { createValidatorCache } from '../tools/validation/validator.ts';
import { seesTool } from '../tools/visible-tools.ts';
import { createAcceptance } from './accept/accept.ts';
import { findLateRefusal } from './accept/approval-gate.ts';
import { refuseParsed } from './accept/call-arguments.ts';
import { createCallTurns } from './accept/call-turns.ts';
import { createCallerLimits } from './accept/caller-limits.ts';
import { createIdempotency } from './accept/idempotency.ts';
import { ActiveCall } from './active-call.ts';
import { CallBorder, type CallBorderParts } from './attempt/call-border.ts';
import { waitAtMost, waitForEnd } from './attempt/deadline.ts';
import { runAttempt } from './attempt/engine-run.ts';
import { createNestedCalls } from './attempt/nested-calls.ts';
import { createNextAttempt } from './attempt/next-attempt.ts';
import type { CallAnswer, CallRequest } from './call-types.ts';
import {
  addAdvice,
  describeEscalation,
  endFailure,
  endSuccess,
  endWaiting,
  endWithError,
  leftToNextRun,
} from './record/call-end.ts';
import { createExecutionIds } from './record/execution-id.ts';
import { executionUnknown, maySee, showError } from './record/execution-reader.ts';
import type { CallEnd } from './record/execution-record.ts';
import { createExecutionRecords } from './record/execution-records.ts';
import { createRecordingKeeper } from './record/recordings.ts';
import { redactEnd } from './record/redaction.ts';
import type { ToolCallerHandle, ToolCallerParts } from './tool-caller-parts.ts';
import { createDispatcher } from './wait/dispatcher.ts';
import { createDurableWaits } from './wait/durable-waits.ts';
import { createPendingApprovals } from './wait/pending-approvals.ts';
import { resumeCalls } from './wait/resume-calls.ts';

/** After what was left was cancelled, engines get this long to say so. */
const cancelGraceMs = 5_000;
const maxRefusalChars = 1000;

/** Creates the Call journey: resolve, admit, run, record. */
export function createToolCaller(parts: ToolCallerParts): ToolCallerHandle {
  const { config, registry, engines, store, events, approvals, now = Date.now, onFault = () => {} } = parts;
  const records = createExecutionRecords({ store, events, limits: config.executions, redactor: parts.redactor });
  const idempotency = createIdempotency({
    store,
    keepMs: config.idempotency.keepMs,
    findQuestion: (id, caller) =>
      approvals.list({ caller, status: 'open', limit: 1000 }).find((each) => each.executionId === id)?.id,
    now,
  });
  const recordings = createRecordingKeeper({
    store,
    keepPerTool: config.executions.keepRecordingsPerTool,
    maxBytes: config.executions.maxRecordingBytes,
    redactor: parts.redactor,
    onFault,
  });
  const dispatcher = createDispatcher({
    queue: config.queue,
    slots: parts.runnableSlots ?? config.workers.max * 2 + 2,
    start: (call) => void run(call),
    now: () => performance.now(),
  });
  const waits = createDurableWaits({
    store,
    engines,
    now,
    onStored: (call) => {
      if (isDraining) leaveToNextRun(call);
    },
    onFault,
  });
  const pendingApprovals = createPendingApprovals({
    approvals,
    store,
    now,
    findRefusal: (call) => findLateRefusal(call, acceptance.findRefusal, parts.findServable),
    begin: (call) => dispatch(call),
    end: (call, end) => finish(call, end, undefined),
    onFault,
  });
  const borderParts: CallBorderParts = {
    capabilities: parts.capabilities,
    events,
    readView: parts.readView,
    noteUse: parts.noteUse,
    redactor: parts.redactor,
    waits,
    setWaiting: dispatcher.setWaiting,
    onFault,
  };
  let isDraining = false;
  const activeById = new Map<string, ActiveCall>();
  const prepare = createToolPreparer(config, createValidatorCache(), parts.limitsOf);
  const acceptance = createAcceptance({
    config,
    registry,
    engines,
    idempotency,
    limits: createCallerLimits({ now: () => performance.now() }),
    dispatcher,
    prepare,
    approvals,
    beforeCall: parts.beforeCall,
    nextId: createExecutionIds(now),
    isDraining: () => isDraining,
    store,
    active: activeById,
    now,
  });
  const nextAttempt = createNextAttempt({
    escalation: parts.escalation,
    events,
    beforeEffect: waits.beforeEffect,
    enterAgain(call) {
      dispatcher.enterAgain(call);
      watchDeadline(call);
    },
    stop: (call) => void stop(call, 'timeout'),
    onFault,
  });
  let whenIdle: PromiseWithResolvers<void> | undefined;

  function enter(call: ActiveCall): void {
    const { request, record } = call;
    activeById.set(record.id, call);
    records.open(record);
    if (request.signal !== undefined) {
      call.onAbort = () => void stop(call, 'cancelled');
      request.signal.addEventListener('abort', call.onAbort, { once: true });
    }
    if (call.approval === undefined) dispatch(call);
    else pendingApprovals.enter(call);
    // Cancelled after it was accepted, before it listened.
    if (request.signal?.aborted) stop(call, 'cancelled');
  }

  /** Takes in a call of the last run of the daemon. */
  function takeIn(call: ActiveCall): void {
    activeById.set(call.record.id, call);
    call.answered.catch(() => {});
    if (call.approval === undefined) dispatch(call);
    else pendingApprovals.enter(call);
  }

  function dispatch(call: ActiveCall): void {
    dispatcher.enter(call);
    watchDeadline(call);
  }

  /** While a call waits here nobody else keeps its deadline. */
  function watchDeadline(call: ActiveCall): void {
    if (call.phase !== 'queued' && call.phase !== 'cell-wait') return;
    call.timer = setTimeout(() => void stop(call, 'timeout'), Math.max(1, call.deadline.leftMs()));
  }

  /** Carries one attempt from its start to its end. Never rejects. */
  async function run(call: ActiveCall): Promise<void> {
    clearTimeout(call.timer);
    if (call.startedAt === 0) call.startedAt = performance.now();
    const problem = call.suspended === undefined && call.record.attempts === 0 ? store.problem() : undefined;
    if (problem !== undefined) {
      dispatcher.leaveEngine(call);
      call.reject(problem);
      finish(call, endWithError('error', { code: problem.code, message: problem.message, frames: [] }), undefined);
      return;
    }
    if (call.suspended === undefined) {
      waits.beforeEffect(call);
      records.start(call.record, now());
    }
    const border = new CallBorder(borderParts, call);
    const outcome = await runAttempt(engines, call, border, onFault);
    border.end();
    dispatcher.leaveEngine(call);
    if (call.isLeft) return;
    if (outcome.status === 'success') {
      finish(call, endSuccess(call, outcome), outcome.recording);
      return;
    }
    const next = await nextAttempt.arrange(call, outcome);
    if (next.goesOn) return;
    if (outcome.error.code === 'arguments-invalid') call.refused = refuseParsed(call, outcome.error.issues ?? []);
    const end = await endFailure(call, outcome, parts.explainError, onFault);
    finish(call, next.advice === undefined ? end : addAdvice(end, next.advice, next.isFix), outcome.recording);
  }

  /** Ends a call from outside; false when it had ended. */
  function stop(call: ActiveCall, status: 'cancelled' | 'timeout'): boolean {
    if (call.phase === 'started') {
      call.controller.abort();
      return true;
    }
    const isHere = call.phase === 'back-off' || call.phase === 'approval';
    if (!isHere && !dispatcher.withdraw(call)) return false;
    finish(call, endWaiting(status, call.phase), undefined);
    return true;
  }

  /** Records the end, lets the next call have what this one held, and answers once the record is committed. */
  function finish(call: ActiveCall, reached: CallEnd, recording: Recording | undefined): void {
    const end = redactEnd(call.notes.addTo(reached, call.record.plugin), parts.redactor);
    const { record, request } = call;
    const hadCell = call.phase !== 'cell-wait' && call.phase !== 'approval';
    const durationMs = Math.round((performance.now() - (call.startedAt || call.enteredAt)) * 1000) / 1000;
    retire(call);
    records.end(record, end, durationMs, now());
    if (call.isParked) store.parkedCalls.remove(record.id);
    if (call.hasAsked || call.approval !== undefined) approvals.withdrawOf(record.id);
    if (recording !== undefined) {
      const { id: executionId, tool, createdAtMs } = record;
      const logs = call.log.lines();
      recordings.keep({ executionId, tool, status: end.status, recording: { ...recording, logs }, createdAtMs });
    }
    if (call.refused !== undefined) call.releaseKey?.();
    call.leave?.();
    const { runner } = call.entry.served.unit;
    // The cell lies in the engine that the unit runs on, wherever the last attempt ran.
    if (request.caller.isAnonymous && call.cellKey !== '' && runner.by === 'engine') {
      engines[runner.engine]?.discard({ cellKey: call.cellKey });
    }
    if (hadCell) dispatcher.leaveCell(call);
    const { output, error, status, warnings } = end;
    const answer = {
      executionId: record.id,
      status,
      ...(output !== undefined && { output }),
      ...(error !== undefined && { error: showError(error, request.caller, record.id) }),
      durationMs,
      ...(warnings !== undefined && { warnings }),
      ...(call.escalated !== undefined && { climbed: describeEscalation(call.escalated) }),
    };
    store
      .committedEnds()
      .then(() => (call.refused === undefined ? call.resolve(answer) : call.reject(call.refused)), call.reject);
  }

  /** The call is no longer one of this daemon's. */
  function retire(call: ActiveCall): void {
    call.phase = 'ended';
    clearTimeout(call.timer);
    if (call.onAbort !== undefined) call.request.signal?.removeEventListener('abort', call.onAbort);
    activeById.delete(call.record.id);
    if (activeById.size === 0) whenIdle?.resolve();
  }

  /** A call that is kept goes on when the daemon runs again. */
  function leaveToNextRun(call: ActiveCall): void {
    call.isLeft = true;
    retire(call);
    call.controller.abort();
    call.reject(leftToNextRun(call.record.id));
  }

  async function drain(deadlineMs: number): Promise<void> {
    isDraining = true;
    for (const call of [...activeById.values()]) {
      if (call.isParked && (call.phase === 'approval' || waits.isAsking(call))) leaveToNextRun(call);
    }
    if (activeById.size > 0) {
      whenIdle ??= Promise.withResolvers<void>();
      await waitAtMost(whenIdle.promise, deadlineMs);
      for (const call of [...activeById.values()]) call.isParked ? leaveToNextRun(call) : stop(call, 'cancelled');
      if (activeById.size > 0) await waitAtMost(whenIdle.promise, cancelGraceMs);
    }
    await store.committed();
  }

  const turns = createCallTurns();

  async function call(request: CallRequest): Promise<CallAnswer> {
    if (request.turn === undefined || findFlags(request).isParallelSafe) return begin(request);
    const leave = await turns.enter(request);
    return begin(request).finally(leave);
  }

  function findFlags({ ref, caller }: CallRequest) {
    return registry.resolve(ref, (entry) => seesTool(caller, entry)).manifest.flags;
  }

  /** Whoever watches sees also the calls that never became one. */
  function tellRefusal(request: CallRequest, error: unknown): void {
    if (!(error instanceof HotcellError) || error.code !== 'arguments-invalid') return;
    const { code, message } = error;
    const data = { tool: request.ref, code, message: message.slice(0, maxRefusalChars) };
    events.publish('execution-refusal', { caller: request.caller.id, subject: request.ref, data });
  }

  async function begin(request: CallRequest): Promise<CallAnswer> {
    let accepted: ActiveCall | CallAnswer;
    try {
      const taken = acceptance.accept(request);
      accepted = taken instanceof Promise ? await taken : taken;
    } catch (error) {
      tellRefusal(request, error);
      throw error;
    }
    if (!(accepted instanceof ActiveCall)) return accepted;
    enter(accepted);
    return accepted.answered;
  }

  return {
    call,
    nested: createNestedCalls({ find: (id) => activeById.get(id), call, dispatcher }),
    cancel(executionId, caller) {
      const call = activeById.get(executionId);
      const owner = call?.record.caller ?? store.executions.get(executionId)?.caller;
      if (owner === undefined || !maySee(caller, owner)) throw executionUnknown(executionId);
      return call !== undefined && stop(call, 'cancelled');
    },
    resume(isLast) {
      const findServable = parts.findServable ?? (() => undefined);
      const isActive = (id: string): boolean => activeById.has(id);
      resumeCalls({ store, approvals, records, prepare, findServable, isActive, isLast, takeIn, now, onFault });
    },
    needsGeneration: (id) => [...activeById.values()].some(({ isParked, record }) => isParked && record.generation === id),
    async ended(id, waitMs, signal) {
      const call = activeById.get(id);
      if (call !== undefined) await waitForEnd(call.answered, waitMs, signal);
    },
    load: () => ({ pending: dispatcher.pending(), running: dispatcher.running() }),
    drain,
    readRecording: recordings.read,
    readLogs: async (id) => activeById.get(id)?.log.lines() ?? (await recordings.read(id))?.logs ?? [],
    async close() {
      await drain(0);
      await recordings.flush();
    },
  };
}
