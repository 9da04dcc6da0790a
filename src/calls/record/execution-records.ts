import type { Config } from '../../config/config-types.ts';
import { errorCatalog } from '../../errors/catalog.ts';
import type { EventLog } from '../../events/event.ts';
import type { Redactor } from '../../secrets/secret-types.ts';
import type { Store } from '../../store/store-types.ts';
import type { ExecutionError } from '../call-types.ts';
import type { CallEnd, ExecutionRecord } from './execution-record.ts';
import { redactRow } from './redact-record.ts';

const pruneEvery = 500;
/** Also after this part of all bytes was written. */
const pruneParts = 32;
const cutChars = 4096;

/** Writes the records of calls and tells of them. What was written is committed when `store.committed()` resolves. */
export type ExecutionRecords = ReturnType<typeof createExecutionRecords>;

/** Creates the writer of records; of ended ones the newest `keep` stay, as far as they fit into `maxBytes`. */
export function createExecutionRecords(parts: {
  readonly store: Pick<Store, 'executions'>;
  readonly events: EventLog;
  readonly limits: Pick<Config['executions'], 'keep' | 'maxBytes' | 'maxValueBytes'>;
  /** Takes secrets out of arguments; what ends comes without any. */
  readonly redactor?: Redactor | undefined;
}) {
  const { store, events, redactor } = parts;
  const { keep, maxBytes, maxValueBytes } = parts.limits;
  let endedSincePrune = 0;
  let bytesSincePrune = 0;

  return {
    open: (record: ExecutionRecord): void => store.executions.insert(redactRow(record, redactor)),
    start(record: ExecutionRecord, nowMs: number): void {
      record.attempts++;
      if (record.status === 'running') return;
      record.status = 'running';
      record.startedAtMs = nowMs;
      store.executions.update(redactRow(record, redactor));
      const { id, tool, version, session, caller } = record;
      events.publish('execution-start', { caller, subject: id, data: { tool, version, session } });
    },
    /** `durationMs` counts from the start, or from the entry of a call that never started. */
    end(record: ExecutionRecord, end: CallEnd, durationMs: number, nowMs: number): void {
      record.status = end.status;
      record.endedAtMs = nowMs;
      record.durationMs = durationMs;
      record.outputJson = end.outputJson ?? null;
      bytesSincePrune += record.argumentsJson.length + (end.outputJson?.length ?? 0);
      record.errorJson = end.error === undefined ? null : JSON.stringify(end.error);
      record.warningsJson = end.warnings === undefined ? null : JSON.stringify(end.warnings);
      store.executions.update(cutLongValues(redactRow(record, redactor), maxValueBytes));
      const { id, tool, version, caller } = record;
      const code = end.error === undefined ? undefined : { code: end.error.code };
      events.publish('execution-end', {
        caller,
        subject: id,
        data: { tool, version, status: end.status, durationMs, ...code },
      });
      endedSincePrune++;
      if (endedSincePrune < pruneEvery && bytesSincePrune < maxBytes / pruneParts) return;
      endedSincePrune = 0;
      bytesSincePrune = 0;
      store.executions.prune(keep, maxBytes);
    },
  };
}

/** Cuts values that are too long for a record to their beginning; an answer that a key may ask for again stays whole. */
function cutLongValues(record: ExecutionRecord, maxValueBytes: number): ExecutionRecord {
  const { argumentsJson, outputJson, idempotencyKey } = record;
  const argumentBytes = measure(argumentsJson, maxValueBytes);
  const outputBytes = outputJson === null || idempotencyKey !== null ? undefined : measure(outputJson, maxValueBytes);
  if (argumentBytes === undefined && outputBytes === undefined) return record;
  const cut = {
    ...(argumentBytes !== undefined && { arguments: argumentBytes }),
    ...(outputBytes !== undefined && { output: outputBytes }),
  };
  return {
    ...record,
    ...(argumentBytes !== undefined && { argumentsJson: JSON.stringify(`${argumentsJson.slice(0, cutChars)}…`) }),
    ...(outputBytes !== undefined && { outputJson: JSON.stringify(`${outputJson?.slice(0, cutChars)}…`) }),
    cutJson: JSON.stringify(cut),
  };
}

/** The bytes of a text that is too long; undefined for every other. */
function measure(text: string, maxBytes: number): number | undefined {
  // A character takes three bytes at most: most texts need no counting.
  if (text.length * 3 <= maxBytes) return undefined;
  const bytes = Buffer.byteLength(text);
  return bytes > maxBytes ? bytes : undefined;
}

/** At the start of the daemon: what was pending or running when it stopped reads `error` (interrupted). Returns how many. */
export function recoverInterrupted(store: Pick<Store, 'executions'>, nowMs: number): number {
  const error: ExecutionError = {
    code: 'interrupted',
    message: 'The daemon stopped while this call was waiting or running; whether its effects took place is not known.',
    fix: errorCatalog.interrupted.fix,
  };
  return store.executions.interruptUnfinished(JSON.stringify(error), nowMs);
}
