import { errorCatalog } from '../errors/catalog.ts';
import type { EventLog } from '../events/event.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { ExecutionRow } from '../store/execution-types.ts';
import type { Store } from '../store/store-types.ts';
import { redactRow } from './redaction.ts';
import type { CallAnswer, ExecutionError, ExecutionStatus } from './tool-types.ts';

/** The row of a call under way. It is changed in place and handed to the store after every change. */
export type ExecutionRecord = { -readonly [Column in keyof ExecutionRow]: ExecutionRow[Column] };

/** How a call ended, as it goes into its record. */
export interface CallEnd {
  readonly status: CallAnswer['status'];
  readonly output?: unknown;
  readonly outputJson?: string | undefined;
  readonly error?: ExecutionError;
}

/** Writes the records of calls and tells of them. What was written is committed when `store.committed()` resolves. */
export interface ExecutionRecords {
  open(record: ExecutionRecord): void;
  start(record: ExecutionRecord, nowMs: number, tag: string | undefined): void;
  /** `durationMs` counts from the start, or from the entry of a call that never started. */
  end(record: ExecutionRecord, end: CallEnd, durationMs: number, nowMs: number): void;
}

const pruneEvery = 500;

/** Creates the writer of records; the newest `keep` ended ones stay. */
export function createExecutionRecords(parts: {
  readonly store: Pick<Store, 'executions'>;
  readonly events: EventLog;
  readonly keep: number;
  /** Takes secrets out of arguments; what ends comes without any. */
  readonly redactor?: Redactor | undefined;
}): ExecutionRecords {
  const { store, events, keep, redactor } = parts;
  let endedSincePrune = 0;

  return {
    open: (record) => store.executions.insert(redactRow(record, redactor)),
    start(record, nowMs, tag) {
      record.attempts++;
      if (record.status === 'running') return;
      record.status = 'running';
      record.startedAtMs = nowMs;
      store.executions.update(redactRow(record, redactor));
      const { id, tool, version, session, caller } = record;
      events.publish('execution-start', {
        caller,
        subject: id,
        data: { tool, version, session, ...(tag !== undefined && { tag }) },
      });
    },
    end(record, end, durationMs, nowMs) {
      record.status = end.status;
      record.endedAtMs = nowMs;
      record.durationMs = durationMs;
      record.outputJson = end.outputJson ?? null;
      record.errorJson = end.error === undefined ? null : JSON.stringify(end.error);
      store.executions.update(redactRow(record, redactor));
      const { id, tool, version, caller } = record;
      const code = end.error === undefined ? undefined : { code: end.error.code };
      events.publish('execution-end', {
        caller,
        subject: id,
        data: { tool, version, status: end.status, durationMs, ...code },
      });
      endedSincePrune++;
      if (endedSincePrune < pruneEvery) return;
      endedSincePrune = 0;
      store.executions.prune(keep);
    },
  };
}

/** A new record in the state `pending`. */
export function createRecord(facts: Omit<ExecutionRecord, 'status' | EndColumn | 'startedAtMs' | 'attempts'>): ExecutionRecord {
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
    createdAtMs: facts.createdAtMs,
    startedAtMs: null,
    endedAtMs: null,
    durationMs: null,
    attempts: 0,
    idempotencyKey: facts.idempotencyKey,
    parent: facts.parent,
    engine: facts.engine,
  };
}

type EndColumn = 'outputJson' | 'errorJson' | 'endedAtMs' | 'durationMs';

/** At the start of the daemon: what was pending or running when it stopped reads `error` (interrupted). Returns how many. */
export function recoverInterrupted(store: Pick<Store, 'executions'>, nowMs: number): number {
  const error: ExecutionError = {
    code: 'interrupted',
    message: 'The daemon stopped while this call was waiting or running; whether its effects took place is not known.',
    fix: errorCatalog.interrupted.fix,
  };
  return store.executions.interruptUnfinished(JSON.stringify(error), nowMs);
}
