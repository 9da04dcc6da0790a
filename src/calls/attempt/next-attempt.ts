import type { EngineName, RunOutcome } from '../../engines/engine.ts';
import { decideRun, type EscalationDecision, type RunTrouble } from '../../engines/escalation.ts';
import type { ActiveCall } from '../active-call.ts';
import type { RunEscalation, StageParts } from '../call-parts.ts';
import type { DurableWaits } from '../wait/durable-waits.ts';
import { decideRetry } from './retry.ts';

type Failure = Exclude<RunOutcome, { status: 'success' }>;

/** What went wrong on which engine. */
interface Setback {
  readonly trouble: RunTrouble;
  readonly engine: EngineName;
  readonly use: RunEscalation;
}

/** What comes after a failed attempt: another one, or the call ends, with a sentence on what might help. */
export type AfterFailure =
  | { readonly goesOn: true }
  /** `isFix`: what the plugin's author could mend is not at fault. */
  | { readonly goesOn: false; readonly advice?: string; readonly isFix?: boolean };

const over: AfterFailure = { goesOn: false };
const goesOn: AfterFailure = { goesOn: true };

/** Prepares another attempt of a call whose last one failed. */
export type NextAttempt = ReturnType<typeof createNextAttempt>;

/** Creates the preparation of attempts. */
export function createNextAttempt(
  parts: Pick<StageParts, 'escalation' | 'events' | 'onFault'> & { readonly waits: Pick<DurableWaits, 'beforeEffect'> },
) {
  const { escalation } = parts;
  const { beforeEffect } = parts.waits;

  /** How long a call waits for its next attempt on the same engine; undefined when there is none. */
  function findRetryMs(call: ActiveCall, { status, error }: Failure): number | undefined {
    const { retries, idempotent } = call.entry.manifest;
    const attempt = call.record.attempts;
    const facts = { status, code: error.code, attempt, retries, isIdempotent: idempotent };
    const decision = decideRetry({ ...facts, leftMs: call.deadline.leftMs() });
    return decision.retry ? decision.delayMs : undefined;
  }

  async function backOff(call: ActiveCall, delayMs: number): Promise<AfterFailure> {
    beforeEffect(call);
    call.phase = 'back-off';
    const timer = setTimeout(() => call.goOn(), delayMs);
    await call.wait();
    clearTimeout(timer);
    return goesOn;
  }

  async function decide(call: ActiveCall, { trouble, engine, use }: Setback): Promise<EscalationDecision> {
    const { unit } = call.entry.served;
    return decideRun({
      trouble,
      engine,
      engines: await use.engines(),
      escalation: use.escalationOf(unit.path),
      isOperators: unit.author === 'operator',
      isIdempotent: call.entry.manifest.idempotent,
      hasEffects: call.hasEffects,
      isolation: unit.manifest.isolation,
      hasMoved: call.escalated !== undefined,
      leftMs: call.deadline.leftMs(),
    });
  }

  /** While the code is made the call waits as it does between two attempts: whoever cancels it ends it. */
  async function escalate(call: ActiveCall, setback: Setback): Promise<AfterFailure> {
    call.phase = 'back-off';
    const made = makeCode(call, setback);
    await Promise.race([made, call.wait()]).finally(() => call.goOn());
    if (call.phase !== 'back-off') return goesOn;
    const { decision, unit } = await made;
    if (decision.action === 'move' && unit !== undefined) {
      moveTo(call, { unit, from: setback.engine, to: decision.engine, reason: decision.reason });
      return goesOn;
    }
    call.phase = 'ending';
    return advise(call, decision, setback);
  }

  async function makeCode(call: ActiveCall, setback: Setback) {
    const decision = await decide(call, setback);
    if (decision.action !== 'move') return { decision };
    return { decision, unit: await setback.use.build(call.entry.served.unit, decision.engine) };
  }

  function moveTo(call: ActiveCall, escalated: NonNullable<ActiveCall['escalated']>): void {
    beforeEffect(call);
    call.escalated = escalated;
    const { from, to, reason } = escalated;
    call.record.engine = to;
    const { id: execution, tool } = call.record;
    parts.events.publish('engine-change', {
      subject: call.entry.plugin,
      data: { from, to, reason, tool, execution },
    });
  }

  async function advise(call: ActiveCall, decision: EscalationDecision, { trouble, use }: Setback): Promise<AfterFailure> {
    const isFix = typeof trouble === 'object';
    if (decision.action === 'suggest') return { goesOn: false, advice: decision.reason, isFix };
    if (decision.action !== 'ask') return over;
    const how = await use.ask(call.entry.served.unit, decision.engine, decision.reason);
    return { goesOn: false, advice: how === undefined ? decision.reason : `${decision.reason} ${how}`, isFix };
  }

  return {
    /** Resolves when the next attempt may begin, or when the call was stopped in the meantime. Never rejects. */
    async prepare(call: ActiveCall, failure: Failure): Promise<AfterFailure> {
      if (call.controller.signal.aborted) return over;
      const delayMs = findRetryMs(call, failure);
      if (delayMs !== undefined) return backOff(call, delayMs);
      const { runner, kind } = call.entry.served.unit;
      // What the daemon brings itself has no other engine.
      if (escalation === undefined || runner.by === 'daemon' || kind === 'builtin') return over;
      const trouble = findTrouble(call, failure, escalation);
      if (trouble === undefined) return over;
      try {
        return await escalate(call, { trouble, engine: runner.engine, use: escalation });
      } catch (error) {
        parts.onFault(error, call.record.id);
        if (call.phase === 'back-off') call.phase = 'ending';
        return over;
      }
    },
  };
}

/** What kept a call from its end that another engine might not have kept it from. */
function findTrouble(call: ActiveCall, { error }: Failure, escalation: RunEscalation): RunTrouble | undefined {
  if (error.code === 'memory-exceeded') return 'memory-limit';
  if (error.code === 'time-exceeded') return call.deadline.leftMs() === 0 ? 'time' : 'cpu-limit';
  return error.code === 'handler-threw' || error.lacks !== undefined ? escalation.findNeed(error) : undefined;
}
