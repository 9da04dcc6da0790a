import { defaultLimits } from '../../../config/limits.ts';
import type { SliceBudget } from '../protocol.ts';

/** The questions of a call that wait at the same time may hold so much, or twice its arguments if that is more. */
const PENDING_HOST_BYTES = 6 * 1024 * 1024;

/** What a call has that begins with every limit at its default: known on both sides, so it need not travel. */
export const defaultBudget: SliceBudget = Object.freeze({
  cpuMs: defaultLimits.cpuMs,
  memoryBytes: defaultLimits.memoryBytes,
  stackBytes: defaultLimits.stackBytes,
  outputBytes: defaultLimits.outputBytes,
  logBytes: defaultLimits.logBytes,
  logLines: defaultLimits.logLines,
  hostCalls: defaultLimits.hostCalls,
  pendingHostCalls: defaultLimits.pendingHostCalls,
  pendingHostBytes: Math.max(PENDING_HOST_BYTES, 2 * defaultLimits.argumentBytes),
});

/** How much the questions of a call may hold at once, in bytes. */
export function pendingBytesOf(argumentBytes: number): number {
  return Math.max(PENDING_HOST_BYTES, 2 * argumentBytes);
}

/** The budget as it travels: nothing when it is the default one. */
export function packBudget(budget: SliceBudget): { readonly budget?: SliceBudget } {
  for (const name of Object.keys(defaultBudget) as (keyof SliceBudget)[]) {
    if (budget[name] !== defaultBudget[name]) return { budget };
  }
  return {};
}
