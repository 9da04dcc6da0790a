import { readJson } from '../../config/json-object.ts';
import type { Limits } from '../../config/limits.ts';
import { maxOutputDepth, nestsDeeper } from '../../config/read/json-nesting.ts';
import { noUsage, type RunOutcome, type RunUsage } from '../engine.ts';
import type { EndReason } from '../run-end.ts';
import { describeStop, failRun, refuseDeepOutput } from '../run-outcome.ts';
import type { TaskEnd } from './worker/worker-pool.ts';

const outOfMemoryCode = 'ERR_WORKER_OUT_OF_MEMORY';

/** What the end of a worker's task means for the call. */
export function describeTaskEnd(end: TaskEnd, reason: EndReason | undefined, limits: Limits): RunOutcome {
  switch (end.type) {
    case 'aborted':
      return { ...describeStop(reason ?? 'cancelled', limits), usage: noUsage };
    case 'cpu':
      return { ...describeStop('cpu', limits), usage: { ...noUsage, cpuMs: limits.cpuMs } };
    case 'died':
      return end.code === outOfMemoryCode
        ? { ...failRun('memory-exceeded', 'The call used up the memory of its worker.'), usage: noUsage }
        : { ...failRun('engine-failed', 'The worker that ran the call ended early.'), usage: noUsage };
    case 'report': {
      const { report } = end;
      if (report.type === 'returned') return describeOutput(report.output, report.usage);
      if (report.type === 'failed') return { status: 'error', error: report.error, usage: report.usage };
      return { ...failRun('engine-failed', 'The worker compiled where it should have run.'), usage: noUsage };
    }
  }
}

/** A call that ended with this output: JSON where it parses as such, else text. */
export function describeOutput(text: string, usage: RunUsage): RunOutcome {
  const read = readJson(text);
  const output = read === undefined ? text : read;
  if (typeof output !== 'object' || !nestsDeeper(text, maxOutputDepth)) return { status: 'success', output, usage };
  return { ...refuseDeepOutput(), usage };
}
