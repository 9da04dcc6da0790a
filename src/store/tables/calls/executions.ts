import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { readNumber, readNumberOrNull, readText, readTextOrNull, readWord, type SqlRow } from '../../column-values.ts';
import type { ExecutionFilter, ExecutionRow, ExecutionTable } from '../../execution-types.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { QueuedWrite, WriteQueue } from '../../write-queue.ts';
import { createExecutionPruner } from './execution-pruner.ts';

const statuses = ['pending', 'running', 'success', 'error', 'timeout', 'cancelled'] as const;

interface QueuedExecution extends QueuedWrite {
  row: ExecutionRow;
}

interface RowFilter extends ExecutionFilter {
  readonly before?: string;
}

/** Creates the table of executions. Insert and updates of a row that wait for the same transaction become one write. */
export function createExecutionTable(database: DatabaseSync, queue: WriteQueue): ExecutionTable {
  const insert = database.prepare(
    `insert into executions (id, tool, version, plugin, generation, caller, session, status, created_at, started_at,
       ended_at, duration_ms, attempts, idempotency_key, arguments, output, error, parent, engine, cut, warnings)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = database.prepare(
    `update executions set status = ?, started_at = ?, ended_at = ?, duration_ms = ?, attempts = ?, output = ?, error = ?,
       engine = ?, cut = ?, warnings = ?, arguments = coalesce(?, arguments) where id = ?`,
  );
  const get = database.prepare('select * from executions where id = ?');
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
      apply: () => write(queued.row),
      canWait: () => queued.row.status === 'running' || queued.row.status === 'pending',
      settle: () => queuedById.delete(row.id),
    };
    queuedById.set(row.id, queued);
    queue.add(queued);
  }

  function writeNew(row: ExecutionRow): void {
    insert.run(
      row.id,
      row.tool,
      row.version,
      row.plugin,
      row.generation,
      row.caller,
      row.session,
      row.status,
      row.createdAtMs,
      row.startedAtMs,
      row.endedAtMs,
      row.durationMs,
      row.attempts,
      row.idempotencyKey,
      row.argumentsJson,
      row.outputJson,
      row.errorJson,
      row.parent,
      row.engine,
      row.cutJson,
      row.warningsJson,
    );
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

  function select(columns: string, filter: RowFilter, tail: string): [StatementSync, SQLInputValue[]] {
    const { where, values } = writeCondition(filter);
    const sql = `select ${columns} from executions ${where} ${tail}`;
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return [statement, values];
  }

  return {
    insert: (row) => enqueue(row, writeNew),
    update(row) {
      const queued = queuedById.get(row.id);
      if (queued === undefined) enqueue(row, writeState);
      else queued.row = row;
    },
    get(id) {
      const queued = queuedById.get(id);
      if (queued !== undefined) return queued.row;
      const row = get.get(id);
      return row === undefined ? undefined : readExecution(row);
    },
    list(query) {
      queue.flush();
      const [statement, values] = select('*', query, 'order by id desc limit ?');
      return statement.all(...values, query.limit).map(readExecution);
    },
    count(query) {
      queue.flush();
      const [statement, values] = select('count(*) as count', { ...query }, '');
      return readNumber(statement.get(...values) ?? {}, 'count');
    },
    interruptUnfinished(errorJson, atMs) {
      queue.flush();
      return writeNow(() => {
        forgetClaims.run();
        return Number(interrupt.run(errorJson, atMs).changes);
      });
    },
    prune: (keep, maxBytes) => queue.add({ apply: () => pruner.prune(keep, maxBytes) }),
  };
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

function readExecution(row: SqlRow): ExecutionRow {
  return {
    id: readText(row, 'id'),
    tool: readText(row, 'tool'),
    version: readText(row, 'version'),
    plugin: readText(row, 'plugin'),
    generation: readText(row, 'generation'),
    caller: readText(row, 'caller'),
    session: readText(row, 'session'),
    status: readWord(row, 'status', statuses),
    argumentsJson: readText(row, 'arguments'),
    outputJson: readTextOrNull(row, 'output'),
    errorJson: readTextOrNull(row, 'error'),
    warningsJson: readTextOrNull(row, 'warnings'),
    createdAtMs: readNumber(row, 'created_at'),
    startedAtMs: readNumberOrNull(row, 'started_at'),
    endedAtMs: readNumberOrNull(row, 'ended_at'),
    durationMs: readNumberOrNull(row, 'duration_ms'),
    attempts: readNumber(row, 'attempts'),
    idempotencyKey: readTextOrNull(row, 'idempotency_key'),
    parent: readTextOrNull(row, 'parent'),
    engine: readTextOrNull(row, 'engine'),
    cutJson: readTextOrNull(row, 'cut'),
  };
}
