import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readNumberOrNull, readText, readTextOrNull, readWord, type SqlRow } from '../../column-values.ts';
import type { ApprovalRow, ApprovalTable } from '../../permission-types.ts';
import { writeNow } from '../../sqlite-error.ts';

const kinds = ['grant', 'call', 'confirm', 'hook', 'mcp', 'ask'] as const;
const reasons = ['permissions', 'dangerous', 'hybrid', 'confirm', 'hook', 'mcp', 'ask'] as const;
const statuses = ['open', 'approved', 'denied', 'expired', 'withdrawn'] as const;

/** Creates the table of questions to people. */
export function createApprovalTable(database: DatabaseSync): ApprovalTable {
  const insert = database.prepare(
    `insert into approvals (id, kind, ask_key, plugin_path, plugin, tool, execution_id, caller, session, reason, question,
       arguments_hash, details, status, created_at, expires_at, answered_at, answered_by)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const settle = database.prepare(
    `update approvals set status = ?, answered_at = ?, answered_by = ?, details = coalesce(?, details), content = ? where id = ? and status = 'open'`,
  );
  const forgetContent = database.prepare('update approvals set content = null where execution_id = ? and content is not null');
  const get = database.prepare('select * from approvals where id = ?');
  // The same words as the unique index, so that it is the one that is used.
  const findByKey = database.prepare(
    `select * from approvals where ask_key = ? and status <> 'withdrawn' and (kind <> 'grant' or status in ('open', 'denied'))`,
  );
  const listOpen = database.prepare(`select * from approvals where status = 'open' order by rowid`);
  const where = '(?1 is null or caller = ?1) and (?2 is null or status = ?2)';
  const list = database.prepare(`select * from approvals where ${where} order by rowid desc limit ?3`);
  const count = database.prepare(`select count(*) as total from approvals where ${where}`);
  const prune = database.prepare(
    `delete from approvals where status <> 'open' and rowid <=
       (select rowid from approvals where status <> 'open' order by rowid desc limit 1 offset ?)`,
  );

  return {
    insert: (row) =>
      void writeNow(() =>
        insert.run(
          row.id,
          row.kind,
          row.askKey,
          row.unitPath,
          row.plugin,
          row.tool,
          row.executionId,
          row.caller,
          row.session,
          row.reason,
          row.question,
          row.argumentsHash,
          row.detailsJson,
          row.status,
          row.createdAtMs,
          row.expiresAtMs,
          row.answeredAtMs,
          row.answeredBy,
        ),
      ),
    settle: (id, { status, answeredAtMs, answeredBy, detailsJson = null, contentJson = null }) =>
      writeNow(() => settle.run(status, answeredAtMs, answeredBy, detailsJson, contentJson, id)).changes === 1,
    forgetContent: (executionId) => void writeNow(() => forgetContent.run(executionId)),
    get: (id) => readFirst(get.get(id)),
    findByKey: (askKey) => readFirst(findByKey.get(askKey)),
    listOpen: () => listOpen.all().map(readApproval),
    list: ({ caller = null, status = null, limit }) => list.all(caller, status, limit).map(readApproval),
    count: ({ caller = null, status = null }) => Number(count.get(caller, status)?.total),
    prune: (keep) => void writeNow(() => prune.run(keep)),
  };
}

function readFirst(row: SqlRow | undefined): ApprovalRow | undefined {
  return row === undefined ? undefined : readApproval(row);
}

function readApproval(row: SqlRow): ApprovalRow {
  return {
    id: readText(row, 'id'),
    kind: readWord(row, 'kind', kinds),
    askKey: readText(row, 'ask_key'),
    unitPath: readText(row, 'plugin_path'),
    plugin: readText(row, 'plugin'),
    tool: readTextOrNull(row, 'tool'),
    executionId: readTextOrNull(row, 'execution_id'),
    caller: readTextOrNull(row, 'caller'),
    session: readTextOrNull(row, 'session'),
    reason: readWord(row, 'reason', reasons),
    question: readText(row, 'question'),
    argumentsHash: readText(row, 'arguments_hash'),
    detailsJson: readText(row, 'details'),
    status: readWord(row, 'status', statuses),
    createdAtMs: readNumber(row, 'created_at'),
    expiresAtMs: readNumber(row, 'expires_at'),
    answeredAtMs: readNumberOrNull(row, 'answered_at'),
    answeredBy: readTextOrNull(row, 'answered_by'),
    contentJson: readTextOrNull(row, 'content'),
  };
}
