import type { Limits } from '../../config/limits.ts';
import { maxOutputDepth, nestsDeeper } from '../../config/read/json-nesting.ts';
import type { HotcellError } from '../../errors/hotcell-error.ts';
import { forbiddenSegments } from '../../permissions/forbidden-segments.ts';
import { type GuestError, type LoadResult, noUsage, type RunOutcome, type StackFrame } from '../engine.ts';
import { memoryExceeded, toGuestError } from '../guest-errors.ts';
import type { EndReason } from '../run-end.ts';
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

const maxExportedDepth = 200;

/** The outcome of a call. */
export function describeCall(facts: TurnFacts): RunOutcome {
  const { result, cpuMs } = facts;
  const spent = { recording: result.turn.recording(), usage: result.turn.usage(cpuMs) };
  const failure = describeFailure(facts, 'handler-threw');
  if (failure) return { ...failure, ...spent };
  const text = result.end && result.end.kind !== 'throw' ? result.end.text : 'null';
  const invalid = (message: string) => ({ ...fail('error', 'output-invalid', message), ...spent });
  if (nestsDeeper(text, maxOutputDepth)) return invalid(`The output nests deeper than ${maxOutputDepth} levels.`);
  try {
    return { status: 'success', output: JSON.parse(text), outputJson: text, ...spent };
  } catch {
    return invalid('The output is not JSON.');
  }
}

/** The outcome of a load. */
export function describeLoad(facts: TurnFacts): LoadResult {
  const failure = describeFailure(facts, 'load-failed');
  if (failure) return { ok: false, error: failure.error };
  const { end } = facts.result;
  const text = end && end.kind !== 'throw' ? end.text : '';
  if (nestsDeeper(text, maxExportedDepth)) return failLoad('What the plugin exports nests too deeply.');
  try {
    return { ok: true, exported: JSON.parse(text), warnings: [] };
  } catch {
    return failLoad('What the plugin exports could not be read as data.');
  }
}

/** The outcome of a call that was over before a process had it. */
export function describeUnbegun(reason: EndReason, limits: Limits): RunOutcome {
  return { ...describeStop(reason, limits), usage: noUsage };
}

/** The outcome of a call for which no process could be had: it says what to do. */
export function describeMissing({ code, message, fix }: HotcellError): RunOutcome {
  return { ...fail('error', code, `${message} ${fix}`), usage: noUsage };
}

/** Where a bundle lies in a container while Node imports it: the name that it has in a stack. */
export const guestModule = '/tmp/plugin.mjs';

type Failure = { readonly status: 'error' | 'timeout' | 'cancelled'; readonly error: GuestError };

function describeFailure(facts: TurnFacts, fallback: 'handler-threw' | 'load-failed'): Failure | undefined {
  const { result, stopped, limits, lastWords } = facts;
  if (result.end?.kind === 'throw') {
    const error = toGuestError(result.end.report, fallback);
    return { status: 'error', error: { ...error, frames: error.frames.flatMap(toBundleFrame) } };
  }
  if (result.end) return undefined;
  if (stopped) return describeStop(stopped, limits);
  if (/out of memory/i.test(lastWords)) return describeStop('memory', limits);
  const message =
    result.lost.kind === 'misbehaved'
      ? `The process of the plugin was ended: ${result.lost.reason}.`
      : 'The process of the plugin ended before the call did.';
  return fail('error', 'engine-failed', message);
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
export function describeStop(stopped: StopReason, limits: Limits): Failure {
  switch (stopped) {
    case 'cancelled':
      return fail('cancelled', 'cancelled', 'The call was cancelled.');
    case 'deadline':
      return fail('timeout', 'time-exceeded', `The call did not end within ${limits.wallMs} ms.`);
    case 'cpu':
      return fail('timeout', 'time-exceeded', `The call used more than its ${limits.cpuMs} ms of processor time.`);
    case 'memory':
      return fail('error', 'memory-exceeded', memoryExceeded(limits.memoryBytes));
    case 'quota':
      return fail('error', 'quota-exceeded', 'The call wrote more than the workspace may hold (files.workspaceQuotaBytes).');
    case 'forbidden': {
      const names = forbiddenSegments.join(' ');
      return fail(
        'error',
        'file-refused',
        `The call wrote a file or folder whose name no path may hold, in any case (${names}). It was renamed.`,
      );
    }
    case 'revoked':
      return fail('error', 'permission-denied', 'The permission for files was revoked while the call ran.');
  }
}

function fail(status: Failure['status'], code: GuestError['code'], message: string): Failure {
  return { status, error: { code, message, frames: [] } };
}

function failLoad(message: string): LoadResult {
  return { ok: false, error: { code: 'load-failed', message, frames: [] } };
}
