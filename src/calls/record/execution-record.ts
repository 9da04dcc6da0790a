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

/** Columns of which a new record has nothing yet. */
type LaterColumn = 'outputJson' | 'errorJson' | 'warningsJson' | 'startedAtMs' | 'endedAtMs' | 'durationMs' | 'cutJson';

/** A new record in the state `pending`. */
export function createExecutionRecord(facts: Omit<ExecutionRecord, LaterColumn | 'status' | 'attempts'>): ExecutionRecord {
  return {
    ...facts,
    status: 'pending',
    attempts: 0,
    outputJson: null,
    errorJson: null,
    warningsJson: null,
    startedAtMs: null,
    endedAtMs: null,
    durationMs: null,
    cutJson: null,
  };
}
