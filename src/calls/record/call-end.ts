import type { GuestError, RunOutcome } from '../../engines/engine.ts';
import { errorCatalog } from '../../errors/catalog.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { joinFixes } from '../../errors/problem.ts';
import { sayIssue } from '../../tools/validation/schema-issue.ts';
import type { ActiveCall, CallPhase, StoppedCall } from '../active-call.ts';
import type { CallAnswer, ExecutionError, ExplainGuestError } from '../call-types.ts';
import { showError } from './execution-reader.ts';
import type { CallEnd } from './execution-record.ts';

/** What a success becomes: its output, or an error when the output is not what the tool declares. */
export function endSuccess(call: ActiveCall, outcome: RunOutcome & { status: 'success' }): CallEnd {
  const { output } = outcome;
  const outputJson: string | undefined = outcome.outputJson ?? JSON.stringify(output);
  const issues = call.tool.output?.findIssues(output, outputJson?.length ?? 0);
  if (issues === undefined) return { status: 'success', output, outputJson };
  const message = `The output does not fit the output schema of ${call.entry.name}: ${issues.map(sayIssue).join('; ')}.`;
  return endWithError('error', { code: 'output-invalid', message });
}

/** What a call waits for in its phase, where that is not its turn. */
const waitedFor: Readonly<Partial<Record<CallPhase, string>>> = {
  approval: 'a person to let it begin',
  'cell-wait': 'the calls before it in its cell',
  'back-off': 'its next attempt',
};

/** A call that was stopped before it started, or between two attempts. */
export function endWaiting({ status, phase }: StoppedCall): CallEnd {
  const what = waitedFor[phase] ?? 'its turn';
  return status === 'cancelled'
    ? endWithError(status, { code: 'cancelled', message: `The call was cancelled while it waited for ${what}.` })
    : endWithError(status, { code: 'time-exceeded', message: `The time ran out while the call waited for ${what}.` });
}

/** A failure without a place in the plugin's code. */
export function endWithError(status: Exclude<CallEnd['status'], 'success'>, error: PlainError): CallEnd {
  return { status, error: describeError(error) };
}

/** An error that may have no place in the plugin's code. */
type PlainError = Omit<GuestError, 'frames' | 'fix'> & {
  readonly frames?: GuestError['frames'];
  readonly fix?: string | undefined;
};

/** A failure of the guest, explained with its place in the plugin's own files where it has one. */
export async function endFailure(
  call: ActiveCall,
  outcome: Exclude<RunOutcome, { status: 'success' }>,
  explain: ExplainGuestError,
  onFault: (error: unknown, executionId: string) => void,
): Promise<CallEnd> {
  const { status, error } = outcome;
  if (error.frames.length === 0) return endWithError(status, error);
  try {
    return { status, error: await explain(error, call.escalated?.unit ?? call.entry.served.unit) };
  } catch (fault) {
    onFault(fault, call.record.id);
    return endWithError(status, { ...error, frames: [] });
  }
}

/** A failure with a sentence on what might help in its next step, or as that step. */
export function addAdvice(end: CallEnd, advice: string, isFix = false): CallEnd {
  const { error } = end;
  return error === undefined ? end : { ...end, error: { ...error, fix: isFix ? advice : joinFixes(error.fix, advice) } };
}

/** The answer of a call whose end is recorded; `climbed` where it was run again on a higher engine. */
export function describeAnswer(call: ActiveCall, end: CallEnd, durationMs: number): CallAnswer {
  const { id: executionId } = call.record;
  const { output, error, status, warnings } = end;
  const { escalated } = call;
  return {
    executionId,
    status,
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: showError(error, call.request.caller, executionId) }),
    durationMs,
    ...(warnings !== undefined && { warnings }),
    ...(escalated !== undefined && { climbed: { from: escalated.from, to: escalated.to, reason: escalated.reason } }),
  };
}

function describeError(error: PlainError): ExecutionError {
  const { code, message, name, frames = [], fix = errorCatalog[code].fix } = error;
  return {
    code,
    message,
    ...(name !== undefined && { name }),
    ...(frames.length > 0 && { frames }),
    fix,
  };
}

/** What a caller hears whose call waits for a person when the daemon ends. */
export function leftToNextRun(executionId: string): HotcellError {
  const message = `The daemon is stopping. The call ${executionId} waits for a person, and goes on when the daemon runs again.`;
  return new HotcellError('shutting-down', message, {
    facts: { executionId },
    fix: `Start the daemon again, then: hotcell executions show ${executionId} --wait`,
  });
}
