import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf } from '../../table.ts';

const approvals = defineTable('approvals', {
  id: column.text('id'),
  kind: column.word('kind', ['grant', 'call', 'confirm', 'hook', 'mcp', 'ask']),
  askKey: column.text('ask_key'),
  unitPath: column.text('plugin_path'),
  plugin: column.text('plugin'),
  tool: column.textOrNull('tool'),
  executionId: column.textOrNull('execution_id'),
  caller: column.textOrNull('caller'),
  session: column.textOrNull('session'),
  reason: column.word('reason', ['permissions', 'dangerous', 'hybrid', 'confirm', 'hook', 'mcp', 'ask']),
  question: column.text('question'),
  argumentsHash: column.text('arguments_hash'),
  detailsJson: column.text('details'),
  status: column.word('status', ['open', 'approved', 'denied', 'expired', 'withdrawn']),
  createdAtMs: column.number('created_at'),
  expiresAtMs: column.number('expires_at'),
  answeredAtMs: column.numberOrNull('answered_at'),
  answeredBy: column.textOrNull('answered_by'),
  /** What it was answered with, from the answer to the end of the call. */
  contentJson: column.textOrNull('content'),
});

/** A question to a person; see src/permissions/approvals/approval-types.ts. */
export type ApprovalRow = RowOf<typeof approvals>;

interface Which {
  readonly caller?: string;
  readonly status?: ApprovalRow['status'];
  readonly executionId?: string;
}

interface End {
  readonly status: Exclude<ApprovalRow['status'], 'open'>;
  readonly answeredAtMs: number;
  readonly answeredBy: string | null;
  /** What is kept of the details; all of them when absent. */
  readonly detailsJson?: string;
  readonly contentJson?: string;
}

const valuesOf = ({ caller, status, executionId }: Which) => [
  caller ?? null,
  status ?? null,
  ...(executionId === undefined ? [] : [executionId]),
];

/** Creates the table of questions to people; everything is written at once, so that no question and no answer is lost to a crash. */
export function createApprovalTable(database: DatabaseSync) {
  const insert = approvals.prepareInsert(database);
  const settle = database.prepare(
    `update approvals set status = ?, answered_at = ?, answered_by = ?, details = coalesce(?, details), content = ? where id = ? and status = 'open'`,
  );
  const forgetContent = database.prepare('update approvals set content = null where execution_id = ? and content is not null');
  const byId = approvals.prepareSelect(database, 'where id = ?');
  // The condition has the words of the unique index, so that SQLite uses that one.
  const byKey = approvals.prepareSelect(
    database,
    `where ask_key = ? and status <> 'withdrawn' and (kind <> 'grant' or status in ('open', 'denied'))`,
  );
  const open = approvals.prepareSelect(database, `where status = 'open' order by rowid`);
  const where = 'where (?1 is null or caller = ?1) and (?2 is null or status = ?2)';
  const newest = approvals.prepareSelect(database, `${where} order by rowid desc limit ?3`);
  const count = database.prepare(`select count(*) as total from approvals ${where}`);
  const whereOfExecution = `${where} and execution_id = ?3`;
  const newestOfExecution = approvals.prepareSelect(database, `${whereOfExecution} order by rowid desc limit ?4`);
  const countOfExecution = database.prepare(`select count(*) as total from approvals ${whereOfExecution}`);
  const prune = database.prepare(
    `delete from approvals where status <> 'open' and rowid <=
       (select rowid from approvals where status <> 'open' order by rowid desc limit 1 offset ?)`,
  );

  return {
    insert: (row: ApprovalRow): void => void writeNow(() => insert(row)),
    /** Ends an open question; false when it was not open any more. */
    settle: (id: string, { status, answeredAtMs, answeredBy, detailsJson, contentJson }: End): boolean =>
      writeNow(() => settle.run(status, answeredAtMs, answeredBy, detailsJson ?? null, contentJson ?? null, id)).changes === 1,
    /** The call is over: nobody needs what its questions were answered with. */
    forgetContent: (executionId: string): void => void writeNow(() => forgetContent.run(executionId)),
    get: (id: string) => byId.first(id),
    /** The question that holds a key: not one that was withdrawn, and for a grant only one that is open or was denied. */
    findByKey: (askKey: string) => byKey.first(askKey),
    /** Oldest first. */
    listOpen: () => open.all(),
    /** Newest first. */
    list: ({ limit, ...which }: Which & { readonly limit: number }) =>
      (which.executionId === undefined ? newest : newestOfExecution).all(...valuesOf(which), limit),
    count: (which: Which) => Number((which.executionId === undefined ? count : countOfExecution).get(...valuesOf(which))?.total),
    /** Keeps the newest `keep` questions that ended, and all that are open. */
    prune: (keep: number): void => void writeNow(() => prune.run(keep)),
  };
}
