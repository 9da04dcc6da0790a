import { pendingBytesOf } from '../../../border/call-meter.ts';
import { defaultLimits } from '../../../config/limits.ts';
import type { SliceBudget } from '../protocol.ts';

/** What a call has that begins with every limit at its default: known on both sides, so it need not travel. */
export const defaultBudget: SliceBudget = Object.freeze({
  cpuMs: defaultLimits.cpuMs,
  memoryBytes: defaultLimits.memoryBytes,
  stackBytes: defaultLimits.stackBytes,
  outputBytes: defaultLimits.outputBytes,
  logBytes: defaultLimits.logBytes,
  logLines: defaultLimits.logLines,
  progress: defaultLimits.logLines,
  hostCalls: defaultLimits.hostCalls,
  pendingHostCalls: defaultLimits.pendingHostCalls,
  pendingHostBytes: pendingBytesOf(defaultLimits.argumentBytes),
});

/** The budget as it travels: nothing when it is the default one. */
export function packBudget(budget: SliceBudget): { readonly budget?: SliceBudget } {
  for (const name of Object.keys(defaultBudget) as (keyof SliceBudget)[]) {
    if (budget[name] !== defaultBudget[name]) return { budget };
  }
  return {};
}
