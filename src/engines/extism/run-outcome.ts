import type { Limits } from '../../config/limits.ts';
import { maxOutputDepth, nestsDeeper } from '../../config/read/json-nesting.ts';
import { type GuestError, noUsage, type RunOutcome, type RunUsage } from '../engine.ts';
import type { EndReason } from '../run-end.ts';
import type { TaskEnd } from './worker/worker-task.ts';

const outOfMemoryCode = 'ERR_WORKER_OUT_OF_MEMORY';

/** What the end of a worker's task means for the call. */
export function describeTaskEnd(end: TaskEnd, reason: EndReason | undefined, limits: Limits): RunOutcome {
  switch (end.type) {
    case 'aborted':
      return describeEarlyEnd(reason ?? 'cancelled');
    case 'cpu': {
      const message = `The call used ${limits.cpuMs} ms of processor time, which is its limit.`;
      return fail('timeout', { code: 'time-exceeded', message }, { ...noUsage, cpuMs: limits.cpuMs });
    }
    case 'died':
      return end.code === outOfMemoryCode
        ? fail('error', { code: 'memory-exceeded', message: 'The call used up the memory of its worker.' })
        : fail('error', { code: 'engine-failed', message: 'The worker that ran the call ended early.' });
    case 'report':
      return describeReport(end.report);
  }
}

/** A call that was ended from outside, before or while it ran. */
export function describeEarlyEnd(reason: EndReason): RunOutcome {
  if (reason === 'cancelled') return fail('cancelled', { code: 'cancelled', message: 'The call was cancelled.' });
  return fail('timeout', { code: 'time-exceeded', message: 'The call did not end within its time limit.' });
}

function describeReport(report: Extract<TaskEnd, { type: 'report' }>['report']): RunOutcome {
  switch (report.type) {
    case 'returned':
      return describeOutput(report.output, report.usage);
    case 'failed':
      return { status: 'error', error: report.error, usage: report.usage };
    case 'compiled':
      return fail('error', { code: 'engine-failed', message: 'The worker compiled where it should have run.' });
  }
}

/** A call that ended with this output; what nests deeper than readers of JSON bear is refused, as on every engine. */
export function describeOutput(text: string, usage: RunUsage): RunOutcome {
  const output = readOutput(text);
  if (typeof output !== 'object' || !nestsDeeper(text, maxOutputDepth)) return { status: 'success', output, usage };
  const message = `The output nests deeper than ${maxOutputDepth} levels.`;
  return fail('error', { code: 'output-invalid', message }, usage);
}

/** Output is JSON where it parses as such, else text. */
function readOutput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function fail(status: 'error' | 'timeout' | 'cancelled', error: Omit<GuestError, 'frames'>, usage = noUsage): RunOutcome {
  return { status, error: { ...error, frames: [] }, usage };
}
