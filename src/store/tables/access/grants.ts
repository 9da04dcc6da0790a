import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf, writeTogether } from '../../table.ts';
import type { WriteQueue } from '../../write-queue.ts';

const grants = defineTable('grants', {
  id: column.text('id'),
  unitPath: column.text('plugin_path'),
  pluginName: column.text('plugin_name'),
  /** The content of the generation that the grant was given for. */
  contentHash: column.text('content_hash'),
  permissionsJson: column.text('permissions'),
  scope: column.word('scope', ['once', 'session', 'until', 'always']),
  caller: column.textOrNull('caller'),
  session: column.textOrNull('session'),
  untilMs: column.numberOrNull('until_at'),
  grantedBy: column.text('granted_by'),
  createdAtMs: column.number('created_at'),
  /** The execution that a grant for once was spent on. */
  usedBy: column.textOrNull('used_by'),
  revokedAtMs: column.numberOrNull('revoked_at'),
  /** Which units owned the tools that it names when it was given, a JSON object; null for a grant that is older than this. */
  toolOwnersJson: column.textOrNull('tool_owners'),
});

/** What an operator granted to one plugin. `caller` and `session` are set for the scope `session`, `untilMs` for `until`. */
export type GrantRow = RowOf<typeof grants>;

/** Creates the table of grants; everything is written at once, so that a grant or its end is never lost to a crash. */
export function createGrantTable(database: DatabaseSync) {
  const insert = grants.prepareInsert(database);
  const revoke = database.prepare('update grants set revoked_at = ? where id = ? and revoked_at is null');
  const spend = database.prepare('update grants set used_by = ? where id = ? and used_by is null');
  const inForce = grants.prepareSelect(database, 'where revoked_at is null order by rowid');
  const newest = grants.prepareSelect(database, 'order by rowid desc limit ?');

  return {
    insert: (row: GrantRow): void => void writeNow(() => insert(row)),
    /** Takes back one grant and puts others in its place, in one step. */
    replace: (id: string, revokedAtMs: number, rows: readonly GrantRow[]): void =>
      writeTogether(database, () => {
        revoke.run(revokedAtMs, id);
        for (const row of rows) insert(row);
      }),
    spend: (id: string, executionId: string): void => void writeNow(() => spend.run(executionId, id)),
    /** Grants that nobody took back, oldest first. */
    listInForce: () => inForce.all(),
    /** All, newest first. */
    list: (limit: number) => newest.all(limit),
  };
}

const uses = defineTable('permission_uses', {
  permission: column.text('permission'),
  lastUsedAtMs: column.number('last_used_at'),
});

/** Creates the table that tells when which permission of a plugin was used last. */
export function createPermissionUseTable(database: DatabaseSync, queue: WriteQueue) {
  const touch = database.prepare(
    `insert into permission_uses (plugin_path, permission, last_used_at) values (?, ?, ?)
     on conflict (plugin_path, permission) do update set last_used_at = max(last_used_at, excluded.last_used_at)`,
  );
  const ofUnit = uses.prepareSelect(database, 'where plugin_path = ? order by permission');
  const forget = database.prepare('delete from permission_uses where plugin_path = ?');

  return {
    /** Queued. `permission` is a word such as `net=api.example.com`. */
    touch: (unitPath: string, permission: string, atMs: number): void =>
      queue.add({ apply: () => touch.run(unitPath, permission, atMs) }),
    listOf(unitPath: string) {
      queue.flush();
      return ofUnit.all(unitPath);
    },
    /** Queued. */
    forget: (unitPath: string): void => queue.add({ apply: () => forget.run(unitPath) }),
  };
}
