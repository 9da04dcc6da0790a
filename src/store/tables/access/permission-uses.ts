import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../../column-values.ts';
import type { PermissionUseTable } from '../../permission-types.ts';
import type { WriteQueue } from '../../write-queue.ts';

/** Creates the table that tells when which permission of a plugin was used last. */
export function createPermissionUseTable(database: DatabaseSync, queue: WriteQueue): PermissionUseTable {
  const touch = database.prepare(
    `insert into permission_uses (plugin_path, permission, last_used_at) values (?, ?, ?)
     on conflict (plugin_path, permission) do update set last_used_at = max(last_used_at, excluded.last_used_at)`,
  );
  const listOf = database.prepare('select * from permission_uses where plugin_path = ? order by permission');
  const forget = database.prepare('delete from permission_uses where plugin_path = ?');

  return {
    touch: (unitPath, permission, atMs) => queue.add({ apply: () => touch.run(unitPath, permission, atMs) }),
    listOf(unitPath) {
      queue.flush();
      return listOf.all(unitPath).map((row) => ({
        permission: readText(row, 'permission'),
        lastUsedAtMs: readNumber(row, 'last_used_at'),
      }));
    },
    forget: (unitPath) => queue.add({ apply: () => forget.run(unitPath) }),
  };
}
