import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText, readTextOrNull } from '../../column-values.ts';
import type { HookApprovalTable } from '../../permission-types.ts';
import { writeNow } from '../../sqlite-error.ts';

/** Creates the table of the hooks that an operator approved. */
export function createHookApprovalTable(database: DatabaseSync): HookApprovalTable {
  const list = database.prepare('select * from hook_approvals order by path');
  const upsert = database.prepare(
    `insert into hook_approvals (path, content_hash, approved_by, approved_at, guarded_tools) values (?1, ?2, ?3, ?4, ?5)
     on conflict (path) do update set
       content_hash = excluded.content_hash, approved_by = excluded.approved_by, approved_at = excluded.approved_at,
       guarded_tools = excluded.guarded_tools`,
  );
  const remove = database.prepare('delete from hook_approvals where path = ?');

  return {
    list: () =>
      list.all().map((row) => ({
        path: readText(row, 'path'),
        contentHash: readText(row, 'content_hash'),
        approvedBy: readText(row, 'approved_by'),
        approvedAtMs: readNumber(row, 'approved_at'),
        ...readGuardedTools(readTextOrNull(row, 'guarded_tools')),
      })),
    put({ path, contentHash, approvedBy, approvedAtMs, guardedTools }) {
      const guarded = guardedTools === undefined ? null : JSON.stringify(guardedTools);
      writeNow(() => upsert.run(path, contentHash, approvedBy, approvedAtMs, guarded));
    },
    remove: (path) => writeNow(() => remove.run(path)).changes === 1,
  };
}

function readGuardedTools(text: string | null): { guardedTools?: readonly string[] } {
  if (text === null) return {};
  const globs: unknown = JSON.parse(text);
  // Damaged, it guards every tool: nothing passes because a row was changed.
  return { guardedTools: Array.isArray(globs) && globs.every((glob) => typeof glob === 'string') ? globs : [] };
}
