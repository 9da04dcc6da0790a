import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from './column-values.ts';
import type { HookApprovalTable } from './permission-types.ts';
import { writeNow } from './sqlite-error.ts';

/** Creates the table of the hooks that an operator approved. */
export function createHookApprovalTable(database: DatabaseSync): HookApprovalTable {
  const list = database.prepare('select * from hook_approvals order by path');
  const upsert = database.prepare(
    `insert into hook_approvals (path, content_hash, approved_by, approved_at) values (?1, ?2, ?3, ?4)
     on conflict (path) do update set
       content_hash = excluded.content_hash, approved_by = excluded.approved_by, approved_at = excluded.approved_at`,
  );
  const remove = database.prepare('delete from hook_approvals where path = ?');

  return {
    list: () =>
      list.all().map((row) => ({
        path: readText(row, 'path'),
        contentHash: readText(row, 'content_hash'),
        approvedBy: readText(row, 'approved_by'),
        approvedAtMs: readNumber(row, 'approved_at'),
      })),
    put: ({ path, contentHash, approvedBy, approvedAtMs }) =>
      void writeNow(() => upsert.run(path, contentHash, approvedBy, approvedAtMs)),
    remove: (path) => writeNow(() => remove.run(path)).changes === 1,
  };
}
