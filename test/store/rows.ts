import type { ExecutionRow } from '../../src/store/tables/calls/executions.ts';

/** An execution that waits, with whatever a test wants otherwise. */
export function pendingRow(id: string, other: Partial<ExecutionRow> = {}): ExecutionRow {
  return {
    id,
    tool: 'weather',
    version: '1.0.0',
    plugin: 'weather',
    generation: 'g1',
    caller: 'local',
    session: 's1',
    status: 'pending',
    argumentsJson: '{"city":"Bern"}',
    outputJson: null,
    errorJson: null,
    warningsJson: null,
    createdAtMs: 1000,
    startedAtMs: null,
    endedAtMs: null,
    durationMs: null,
    attempts: 0,
    idempotencyKey: null,
    parent: null,
    engine: 'quickjs',
    cutJson: null,
    ...other,
  };
}

/** The same at its end. */
export function endedRow(id: string, other: Partial<ExecutionRow> = {}): ExecutionRow {
  return pendingRow(id, {
    status: 'success',
    outputJson: '"sunny"',
    startedAtMs: 1001,
    endedAtMs: 1003,
    durationMs: 1.5,
    attempts: 1,
    ...other,
  });
}
