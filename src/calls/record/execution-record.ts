import type { ExecutionRow } from '../../store/tables/calls/executions.ts';
import type { CallAnswer, ExecutionError } from '../call-types.ts';

/** The row of a call under way. It is changed in place and handed to the store after every change. */
export type ExecutionRecord = { -readonly [Column in keyof ExecutionRow]: ExecutionRow[Column] };

/** How a call ended, as it goes into its record. */
export interface CallEnd {
  readonly status: CallAnswer['status'];
  readonly output?: unknown;
  readonly outputJson?: string | undefined;
  readonly error?: ExecutionError;
  readonly warnings?: readonly string[];
}

/** A new record in the state `pending`. */
export function createExecutionRecord(
  facts: Omit<ExecutionRecord, keyof typeof notEnded | 'status' | 'attempts'>,
): ExecutionRecord {
  return { ...facts, ...notEnded, status: 'pending', attempts: 0 };
}

/** What stands in a record only once the call has begun or ended. */
const notEnded = {
  outputJson: null,
  errorJson: null,
  warningsJson: null,
  startedAtMs: null,
  endedAtMs: null,
  durationMs: null,
  cutJson: null,
};
