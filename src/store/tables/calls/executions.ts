import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf, readNumber } from '../../table.ts';
import type { QueuedWrite, WriteQueue } from '../../write-queue.ts';
import { createExecutionPruner } from './execution-pruner.ts';

const statuses = ['pending', 'running', 'success', 'error', 'timeout', 'cancelled'] as const;

const { text, textOrNull, number, numberOrNull, word } = column;

/** One call, as kept. JSON columns are text here; times are whole epoch ms; `endedAtMs` is null until the call ended. */
export const executions = defineTable('executions', {
  id: text('id'),
  tool: text('tool'),
  version: text('version'),
  plugin: text('plugin'),
  generation: text('generation'),
  caller: text('caller'),
  session: text('session'),
  status: word('status', statuses),
  createdAtMs: number('created_at'),
  startedAtMs: numberOrNull('started_at'),
  endedAtMs: numberOrNull('ended_at'),
  durationMs: numberOrNull('duration_ms'),
  attempts: number('attempts'),
  idempotencyKey: textOrNull('idempotency_key'),
  argumentsJson: text('arguments'),
  outputJson: textOrNull('output'),
  errorJson: textOrNull('error'),
  /** The call that made this one through `context.tools.call`. */
  parent: textOrNull('parent'),
  /** What ran it, the last attempt of several; null in rows of older versions. */
  engine: textOrNull('engine'),
  /** JSON with the length in bytes of `arguments` and `output` where this row has their beginning alone; else null. */
  cutJson: textOrNull('cut'),
  /** A list of sentences; null when there are none, and in rows of older versions. */
  warningsJson: textOrNull('warnings'),
});

export type ExecutionRow = RowOf<typeof executions>;

/** Which executions: those that fit every value. */
export interface ExecutionFilter {
  readonly tool?: string;
  readonly status?: string;
  readonly caller?: string;
  readonly parent?: string;
}

type RowFilter = ExecutionFilter & { readonly before?: string };

interface QueuedExecution extends QueuedWrite {
  row: ExecutionRow;
  /** Whether the journal may hold this state of the row. */
  isInJournal: boolean;
}

/** Creates the table of executions. Insert and updates of a row that wait for the same transaction become one write. */
export function createExecutionTable(database: DatabaseSync, queue: WriteQueue) {
  const writeNew = executions.prepareInsert(database);
  const update = database.prepare(
    `update executions set status = ?, started_at = ?, ended_at = ?, duration_ms = ?, attempts = ?, output = ?, error = ?,
       engine = ?, cut = ?, warnings = ?, arguments = coalesce(?, arguments) where id = ?`,
  );
  const select = executions.prepareSelect(database, 'where id = ?');
  const interrupt = database.prepare(
    `update executions set status = 'error', error = ?1, ended_at = ?2,
       duration_ms = max(0, ?2 - coalesce(started_at, created_at))
     where status <> 'success' and status in ('pending', 'running') and id not in (select execution_id from parked_calls)`,
  );
  const forgetClaims = database.prepare('delete from idempotency where execution_id not in (select id from executions)');
  const pruner = createExecutionPruner(database);
  const statements = new Map<string, StatementSync>();
  const queuedById = new Map<string, QueuedExecution>();

  function enqueue(row: ExecutionRow, write: (row: ExecutionRow) => void): void {
    const queued: QueuedExecution = {
      row,
      isInJournal: false,
      apply: () => write(queued.row),
      // The next transaction empties the journal; the row itself may have begun by then.
      canWait: () => !queued.isInJournal && canWait(queued.row),
      entry() {
        queued.isInJournal = true;
        return executions.entryOf(queued.row);
      },
      settle: () => queuedById.delete(row.id),
    };
    queuedById.set(row.id, queued);
    queue.add(queued);
  }

  function writeState(row: ExecutionRow): void {
    const { changes } = update.run(
      row.status,
      row.startedAtMs,
      row.endedAtMs,
      row.durationMs,
      row.attempts,
      row.outputJson,
      row.errorJson,
      row.engine,
      row.cutJson,
      row.warningsJson,
      row.cutJson === null ? null : row.argumentsJson,
      row.id,
    );
    if (changes === 0) writeNew(row);
  }

  function prepare(filter: RowFilter, query: (where: string) => string): [StatementSync, SQLInputValue[]] {
    const { where, values } = writeCondition(filter);
    const sql = query(where);
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return [statement, values];
  }

  return {
    /** Queued. */
    insert: (row: ExecutionRow): void => enqueue(row, writeNew),
    /** Queued: the row is written in its new state; insert and updates of one turn become one write. */
    update(row: ExecutionRow): void {
      const queued = queuedById.get(row.id);
      if (queued === undefined || queued.isInJournal) enqueue(row, writeState);
      else queued.row = row;
    },
    get: (id: string): ExecutionRow | undefined => queuedById.get(id)?.row ?? select.first(id),
    /** Newest first; `before` is an id (ids sort by time). */
    list(query: RowFilter & { readonly limit: number }): ExecutionRow[] {
      queue.flush();
      const [statement, values] = prepare(query, (where) => `select * from executions ${where} order by id desc limit ?`);
      return statement.all(...values, query.limit).map(executions.read);
    },
    count(query: ExecutionFilter): number {
      queue.flush();
      const [statement, values] = prepare(query, (where) => `select count(*) as count from executions ${where}`);
      return readNumber(statement.get(...values) ?? {}, 'count');
    },
    /**
     * After a crash: every pending or running row without a parked call becomes `error` with this error, and idempotency keys
     * whose execution was never written are free again; returns how many rows were ended so.
     */
    interruptUnfinished(errorJson: string, atMs: number): number {
      queue.flush();
      return writeNow(() => {
        // While the disk is full, what ended before a kill is not among the rows yet, and its key must not be free.
        if (queue.isEmpty()) forgetClaims.run();
        return Number(interrupt.run(errorJson, atMs).changes);
      });
    },
    /**
     * Queued. Keeps the newest rows of each caller, `keep` in all, those that have not ended and those that an idempotency key
     * still names: a caller with few rows loses none for one with many. Where all of them with their recordings hold more than `maxBytes`, the oldest that ended go, of the caller who has most, also those
     * that a key names. Deletes at most 1000 rows a time, so that no call waits long for it: ask at least every 1000 calls.
     */
    prune: (keep: number, maxBytes: number): void => queue.add({ apply: () => pruner.prune(keep, maxBytes) }),
  };
}

/** Whoever sends a key again after a kill must find the call that had it, so that begins after its record. */
function canWait({ status, idempotencyKey }: ExecutionRow): boolean {
  return status === 'running' || (status === 'pending' && idempotencyKey === null);
}

/** The condition repeats `status <> 'success'`, because SQLite takes the partial index only when it reads so. */
function writeCondition(filter: RowFilter): { where: string; values: SQLInputValue[] } {
  const terms: string[] = [];
  const values: SQLInputValue[] = [];
  for (const column of ['tool', 'status', 'caller', 'parent'] as const) {
    const value = filter[column];
    if (value === undefined) continue;
    if (column === 'status' && value !== 'success') terms.push(`status <> 'success'`);
    terms.push(`${column} = ?`);
    values.push(value);
  }
  if (filter.before !== undefined) {
    terms.push('id < ?');
    values.push(filter.before);
  }
  return { where: terms.length === 0 ? '' : `where ${terms.join(' and ')}`, values };
}
