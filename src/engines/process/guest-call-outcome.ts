import type { Limits } from '../../config/limits.ts';
import { forbiddenSegments } from '../../permissions/forbidden-segments.ts';
import type { LoadResult, RunOutcome, StackFrame } from '../engine.ts';
import { toGuestError } from '../guest-errors.ts';
import type { EndReason } from '../run-end.ts';
import { describeStop, type FailedRun, failRun, readExported, readReturned } from '../run-outcome.ts';
import type { TurnResult } from './guest-channel.ts';

/** A limit that a process passed. */
export type Overrun = 'cpu' | 'memory';

/** Why a call that has files must end. */
export type FileStop = 'revoked' | 'quota' | 'forbidden';

/** Why the daemon ended a process in the middle. */
export type StopReason = EndReason | Overrun | FileStop;

/** What a turn came to, and what is known about its process. */
export interface TurnFacts {
  readonly result: TurnResult;
  readonly stopped: StopReason | undefined;
  readonly limits: Limits;
  readonly lastWords: string;
  readonly cpuMs: number;
}

/** The outcome of a call. */
export function describeCall(facts: TurnFacts): RunOutcome {
  const { result, cpuMs } = facts;
  const spent = { recording: result.turn.recording(), usage: result.turn.usage(cpuMs) };
  return { ...(describeFailure(facts, 'handler-threw') ?? readReturned(textOf(facts))), ...spent };
}

/** The outcome of a load. */
export function describeLoad(facts: TurnFacts): LoadResult {
  const failure = describeFailure(facts, 'load-failed');
  return failure ? { ok: false, error: failure.error } : readExported(textOf(facts));
}

/** Where a bundle lies in a container while Node imports it: the name that it has in a stack. */
export const guestModule = '/tmp/plugin.mjs';

function textOf({ result: { end } }: TurnFacts): string {
  return end && end.kind !== 'throw' ? end.text : '';
}

function describeFailure(facts: TurnFacts, fallback: 'handler-threw' | 'load-failed'): FailedRun | undefined {
  const { result, stopped, limits, lastWords } = facts;
  if (result.end?.kind === 'throw') {
    const error = toGuestError(result.end.report, fallback);
    return { status: 'error', error: { ...error, frames: error.frames.flatMap(toBundleFrame) } };
  }
  if (result.end) return undefined;
  if (stopped) return describeTurnStop(stopped, limits);
  if (/out of memory/i.test(lastWords)) return describeStop('memory', limits);
  const message =
    result.lost.kind === 'misbehaved'
      ? `The process of the plugin was ended: ${result.lost.reason}.`
      : 'The process of the plugin ended before the call did.';
  return failRun('engine-failed', message);
}

/**
 * A frame of the plugin, which is known by the address that its module was imported from: a blob's in Deno, a file's in Node. All
 * other frames are of the runtime, and name files of this machine.
 */
function toBundleFrame({ functionName, file, line, column }: StackFrame): StackFrame[] {
  if (!file.startsWith('blob:') && file !== `file://${guestModule}`) return [];
  const name = functionName?.replace(/^async /, '');
  return [{ ...(name === undefined ? {} : { functionName: name }), file: 'plugin.js', line, column }];
}

/** What the daemon says of a process that it ended. */
export function describeTurnStop(stopped: StopReason, limits: Limits): FailedRun {
  switch (stopped) {
    case 'quota':
      return failRun('quota-exceeded', 'The call wrote more than the workspace may hold (files.workspaceQuotaBytes).');
    case 'forbidden':
      return failRun(
        'file-refused',
        `The call wrote a file or folder whose name no path may hold, in any case (${forbiddenSegments.join(' ')}). It was renamed.`,
      );
    case 'revoked':
      return failRun('permission-denied', 'The permission for files was revoked while the call ran.');
    default:
      return describeStop(stopped, limits);
  }
}
