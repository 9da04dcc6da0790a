import type { BorderHost, Recording } from '../border/border.ts';
import type { Limits } from '../config/limits.ts';
import { watchDeadline } from '../engines/deadline.ts';
import { noUsage, type RunOutcome, type RunRequest } from '../engines/engine.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { Approvals } from '../permissions/approvals/approvals.ts';
import type { DaemonRun, EngineRunner } from '../units/unit.ts';
import { type Acceptance, refuseParsed } from './accept/accept.ts';
import type { CallTurns } from './accept/call-turns.ts';
import { ActiveCall } from './active-call.ts';
import { CallBorder, type CallBorderParts } from './attempt/call-border.ts';
import type { NextAttempt } from './attempt/next-attempt.ts';
import type { StageParts } from './call-parts.ts';
import type { CallAnswer, CallRequest } from './call-types.ts';
import { addAdvice, describeAnswer, endFailure, endSuccess, endWaiting, endWithError, leftToNextRun } from './record/call-end.ts';
import type { CallEnd } from './record/execution-record.ts';
import type { ExecutionRecords } from './record/execution-records.ts';
import type { RecordingKeeper } from './record/recordings.ts';
import { redactEnd } from './record/redact-record.ts';
import { type Engines, runnerOf } from './runner.ts';
import { chooseTimeoutMs } from './time-limit.ts';
import type { Dispatcher } from './wait/dispatcher.ts';
import type { PendingApprovals } from './wait/pending-approvals.ts';

/** The stages of a call. */
export interface CallStages
  extends Pick<StageParts, 'engines' | 'explainError' | 'store' | 'events' | 'redactor' | 'now' | 'onFault'> {
  readonly acceptance: Pick<Acceptance, 'accept'>;
  readonly turns: CallTurns;
  readonly isParallelSafe: (request: CallRequest) => boolean;
  readonly pendingApprovals: PendingApprovals;
  readonly dispatcher: Pick<Dispatcher, 'enter' | 'withdraw' | 'leaveEngine' | 'leaveCell'>;
  readonly border: CallBorderParts;
  readonly nextAttempt: NextAttempt;
  readonly records: ExecutionRecords;
  readonly recordings: Pick<RecordingKeeper, 'keep'>;
  readonly approvals: Pick<Approvals, 'withdrawOf'>;
  readonly active: Map<string, ActiveCall>;
  /** Whose key was revoked: nothing of it begins any more. */
  readonly isShutOut: (callerId: string) => boolean;
  /** Hears when the last call under way is over. */
  readonly onIdle: () => void;
}

/** How a call ended, and what crossed its border. */
interface ReachedEnd {
  readonly end: CallEnd;
  readonly recording?: Recording | undefined;
}

const maxRefusalChars = 1000;

/** Creates the journey of calls: accept, wait for a person, wait for a place, attempt, record. */
export function createCallJourney(stages: CallStages) {
  const { pendingApprovals, dispatcher, nextAttempt, records, store, active, now, onFault } = stages;

  /** Carries a call from its request to its answer, as `ToolCaller.call` says: those of one turn of a model wait for each other. */
  async function carry(request: CallRequest): Promise<CallAnswer> {
    if (request.turn === undefined || stages.isParallelSafe(request)) return begin(request);
    const leaveTurn = await stages.turns.enter(request);
    return begin(request).finally(leaveTurn);
  }

  async function begin(request: CallRequest): Promise<CallAnswer> {
    let call: ActiveCall | CallAnswer;
    try {
      const accepted = stages.acceptance.accept(request);
      call = accepted instanceof Promise ? await accepted : accepted;
    } catch (error) {
      tellRefusal(request, error);
      throw error;
    }
    if (!(call instanceof ActiveCall)) return call;
    records.open(call.record);
    void carryOn(call);
    return call.answered;
  }

  /** Carries a call, also one of the last run of the daemon, from where it is to its record. Never rejects. */
  async function carryOn(call: ActiveCall): Promise<void> {
    const { signal } = call.request;
    const cancel = () => void call.stop('cancelled');
    active.set(call.record.id, call);
    signal?.addEventListener('abort', cancel, { once: true });
    const reaching = reachEnd(call);
    // Cancelled after it was accepted, before it was listened for.
    if (signal?.aborted || stages.isShutOut(call.request.caller.id)) call.stop('cancelled');
    const reached = await reaching;
    signal?.removeEventListener('abort', cancel);
    if (reached !== undefined) record(call, reached);
  }

  /** Undefined when the call is left to the next run of the daemon. */
  async function reachEnd(call: ActiveCall): Promise<ReachedEnd | undefined> {
    const refusal = call.approval && (await pendingApprovals.wait(call, call.approval));
    if (refusal !== undefined) return { end: refusal };
    if (call.record.idempotencyKey !== null) await keepKey(call);
    while (!hasStopped(call)) {
      await waitForPlace(call);
      if (hasStopped(call)) break;
      const problem = findProblem(call);
      if (problem !== undefined) return problem;
      const outcome = await attempt(call);
      if (call.isLeft) break;
      if (outcome.status === 'success') return { end: endSuccess(call, outcome), recording: outcome.recording };
      const next = await nextAttempt.prepare(call, outcome);
      if (next.goesOn) continue;
      // Without issues they are the arguments of a call below this one.
      const { code, issues } = outcome.error;
      if (code === 'arguments-invalid' && issues !== undefined) call.refused = refuseParsed(call, issues);
      const end = await endFailure(call, outcome, stages.explainError, onFault);
      return { end: next.advice === undefined ? end : addAdvice(end, next.advice, next.isFix), recording: outcome.recording };
    }
    return call.stopped && { end: endWaiting(call.stopped) };
  }

  /** After a kill the key is free unless the call is recorded. What cannot be recorded is noticed before it begins. */
  async function keepKey(call: ActiveCall): Promise<void> {
    const goOn = (): void => call.goOn();
    store.committedEnds().then(goOn, goOn);
    await call.wait({ isTimed: false });
  }

  async function waitForPlace(call: ActiveCall): Promise<void> {
    dispatcher.enter(call);
    if (call.phase === 'started') return;
    await call.wait({ onStop: () => dispatcher.withdraw(call) });
  }

  async function attempt(call: ActiveCall) {
    if (call.startedAt === 0) call.startedAt = performance.now();
    if (call.suspended === undefined) {
      stages.border.waits.beforeEffect(call);
      records.start(call.record, now());
    }
    const border = new CallBorder(stages.border, call);
    const outcome = await runAttempt(stages.engines, call, border, onFault);
    border.end();
    dispatcher.leaveEngine(call);
    return outcome;
  }

  /** What cannot be recorded does not begin. */
  function findProblem(call: ActiveCall): ReachedEnd | undefined {
    if (call.suspended !== undefined || call.record.attempts > 0) return undefined;
    const problem = store.problem();
    if (problem === undefined) return undefined;
    dispatcher.leaveEngine(call);
    call.refused = problem;
    return { end: endWithError('error', { code: problem.code, message: problem.message }) };
  }

  /** Records the end, lets the next call have what this one held, and answers once the record is committed. */
  function record(call: ActiveCall, { end: reached, recording }: ReachedEnd): void {
    const end = redactEnd(
      call.notes.addTo(reached, { name: call.record.plugin, permissions: call.entry.served.unit.manifest.permissions }),
      stages.redactor,
    );
    const { id, tool, createdAtMs } = call.record;
    const durationMs = Math.round((performance.now() - (call.startedAt || call.enteredAt)) * 1000) / 1000;
    retire(call);
    records.end(call.record, end, durationMs, now());
    if (call.isParked) store.parkedCalls.remove(id);
    if (call.hasAsked || call.approval !== undefined) stages.approvals.withdrawOf(id);
    if (recording !== undefined) {
      const logs = call.log.lines();
      stages.recordings.keep({ executionId: id, tool, status: end.status, recording: { ...recording, logs }, createdAtMs });
    }
    if (call.refused !== undefined) call.releaseKey?.();
    call.leave?.();
    discardCell(call);
    dispatcher.leaveCell(call);
    const { refused } = call;
    store
      .committedEnds()
      .then(
        () => (refused === undefined ? call.resolve(describeAnswer(call, end, durationMs)) : call.reject(refused)),
        call.reject,
      );
  }

  /** A cell of an anonymous caller lies in the engine that the unit runs on, wherever the last attempt ran. */
  function discardCell({ entry, request, cellKey }: ActiveCall): void {
    const { runner } = entry.served.unit;
    if (cellKey !== '' && request.caller.isAnonymous && runner.by === 'engine') {
      stages.engines[runner.engine]?.discard({ cellKey });
    }
  }

  function retire(call: ActiveCall): void {
    call.phase = 'ended';
    active.delete(call.record.id);
    if (active.size === 0) stages.onIdle();
  }

  /** Whoever watches sees also the calls that never became one. */
  function tellRefusal(request: CallRequest, error: unknown): void {
    if (!(error instanceof HotcellError) || error.code !== 'arguments-invalid') return;
    const { code, message } = error;
    const data = { tool: request.ref, code, message: message.slice(0, maxRefusalChars) };
    stages.events.publish('execution-refusal', { caller: request.caller.id, subject: request.ref, data });
  }

  /** Leaves a call that is kept to the next run of the daemon. */
  function leave(call: ActiveCall): void {
    call.leaveToNextRun();
    retire(call);
    call.reject(leftToNextRun(call.record.id));
  }

  return { carry, carryOn, leave };
}

const hasStopped = (call: ActiveCall): boolean => call.stopped !== undefined || call.isLeft;

/** Runs one attempt, or goes on with a call of the last run of the daemon. Never rejects: a fault of the runner is told to `onFault` and ends the call as `engine-failed`. */
async function runAttempt(
  engines: Engines,
  call: ActiveCall,
  host: BorderHost,
  onFault: (error: unknown, executionId: string) => void,
): Promise<RunOutcome> {
  const { suspended } = call;
  const { signal } = call.controller;
  const runner = runnerOf(call);
  if (signal.aborted) return endAs({ code: 'cancelled', message: 'The call was cancelled.' }, 'cancelled');
  try {
    call.suspended = undefined;
    if (runner.by === 'daemon') return await runner.run(describeRun(call), host, signal);
    const engine = engines[runner.engine];
    if (engine === undefined) throw new HotcellError('interrupted', `The engine "${runner.engine}" is not there any more.`);
    if (suspended === undefined) {
      const prepared = await prepareRun(call, runner, host);
      return 'status' in prepared ? prepared : await engine.run(prepared, host, signal);
    }
    const request = describeProgramRun(call, runner);
    if (engine.resume === undefined) throw new HotcellError('interrupted', 'The engine of the tool cannot go on with it.');
    return await engine.resume(request, suspended, host, signal);
  } catch (error) {
    if (error instanceof HotcellError && error.code === 'interrupted') return endAs(error);
    onFault(error, call.record.id);
    const message = `The sandbox failed; the log of the daemon says why under ${call.record.id}.`;
    return endAs({ code: 'engine-failed', message });
  }
}

/** What the engine is to run, or the end of a call that must not begin. Rejects on a fault of the daemon. */
async function prepareRun(call: ActiveCall, runner: EngineRunner, host: BorderHost): Promise<RunRequest | RunOutcome> {
  const request = describeProgramRun(call, runner);
  if (runner.prepare === undefined) return request;
  const { signal } = call.controller;
  const ending = new AbortController();
  const endWatch = watchDeadline(call.deadline, () => ending.abort());
  // Nothing is computed here meanwhile: other calls may have its slot.
  host.waiting?.(true);
  try {
    const argumentsJson = await runner.prepare(request, host.user?.(), AbortSignal.any([signal, ending.signal]));
    return { ...request, argumentsJson };
  } catch (error) {
    if (signal.aborted) return endAs({ code: 'cancelled', message: 'The call was cancelled.' }, 'cancelled');
    if (ending.signal.aborted) {
      return endAs({ code: 'time-exceeded', message: `The call did not end within ${request.limits.wallMs} ms.` }, 'timeout');
    }
    if (!(error instanceof HotcellError)) throw error;
    return endAs(error, error.code === 'time-exceeded' ? 'timeout' : 'error');
  } finally {
    endWatch();
    host.waiting?.(false);
  }
}

function endAs(
  { code, message }: Pick<HotcellError, 'code' | 'message'>,
  status: 'error' | 'timeout' | 'cancelled' = 'error',
): RunOutcome {
  return { status, error: { code, message, frames: [] }, usage: noUsage };
}

function describeRun(call: ActiveCall): DaemonRun {
  const { record } = call;
  return {
    executionId: record.id,
    handler: call.entry.manifest.handler,
    argumentsJson: record.argumentsJson,
    limits: limitsOf(call),
    deadline: call.deadline,
    caller: record.caller,
    session: record.session,
    holder: { callerId: call.callerId, unitPath: call.unitPath, isAdmin: call.isAdmin },
  };
}

function describeProgramRun(call: ActiveCall, { program, handsOver }: EngineRunner): RunRequest {
  const { isolation } = call.entry.served.unit.manifest;
  return { ...describeRun(call), program, isolation, cellKey: call.cellKey, handOver: handsOver };
}

/** The limits of the tool with the shorter time that the caller asked for, so that an engine names the one that ended the call. */
function limitsOf({ request, tool }: ActiveCall): Limits {
  if (request.timeoutMs === undefined) return tool.limits;
  return { ...tool.limits, wallMs: chooseTimeoutMs(request.timeoutMs, tool.limits.wallMs) };
}
