import type { ExecutionRow } from '../../store/tables/calls/executions.ts';
import type { CallAnswer, ExecutionError, ExecutionStatus } from '../call-types.ts';

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
  facts: Omit<ExecutionRecord, 'status' | EndColumn | 'startedAtMs' | 'attempts' | 'cutJson'>,
): ExecutionRecord {
  return {
    id: facts.id,
    tool: facts.tool,
    version: facts.version,
    plugin: facts.plugin,
    generation: facts.generation,
    caller: facts.caller,
    session: facts.session,
    status: 'pending' satisfies ExecutionStatus,
    argumentsJson: facts.argumentsJson,
    outputJson: null,
    errorJson: null,
    warningsJson: null,
    createdAtMs: facts.createdAtMs,
    startedAtMs: null,
    endedAtMs: null,
    durationMs: null,
    attempts: 0,
    idempotencyKey: facts.idempotencyKey,
    parent: facts.parent,
    engine: facts.engine,
    cutJson: null,
  };
}

type EndColumn = 'outputJson' | 'errorJson' | 'warningsJson' | 'endedAtMs' | 'durationMs';
