import type { DatabaseSync } from 'node:sqlite';
import { column, defineTable } from '../../table.ts';
import type { WriteQueue } from '../../write-queue.ts';

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
