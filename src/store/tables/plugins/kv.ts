import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../../column-values.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { KvTable } from '../../store-types.ts';

/** Creates the table behind `context.kv`. Triggers keep the bytes that every owner uses. */
export function createKvTable(database: DatabaseSync): KvTable {
  const get = database.prepare('select value from kv where plugin = ? and owner = ? and key = ?');
  // One statement checks the quota and writes, so that nothing comes between.
  const set = database.prepare(
    `insert into kv (plugin, owner, key, value) select ?1, ?2, ?3, ?4
     where coalesce((select bytes from kv_usage where plugin = ?1 and owner = ?2), 0)
       - coalesce((select octet_length(key) + octet_length(value) from kv where plugin = ?1 and owner = ?2 and key = ?3), 0)
       + octet_length(?3) + octet_length(?4) <= ?5
     on conflict (plugin, owner, key) do update set value = excluded.value`,
  );
  const remove = database.prepare('delete from kv where plugin = ? and owner = ? and key = ?');
  const list = database.prepare(
    'select key, value from kv where plugin = ? and owner = ? and key >= ? and key > ? order by key limit ?',
  );
  // Few owners have anything: the small table says where to look.
  const listOwners = database.prepare('select plugin, owner from kv_usage where substr(owner, 1, length(?1)) = ?1');
  const removeAll = database.prepare('delete from kv where plugin = ? and owner = ?');
  const forgetUsage = database.prepare('delete from kv_usage where plugin = ? and owner = ?');
  const usage = database.prepare('select bytes from kv_usage where plugin = ? and owner = ?');

  const page = database.prepare(
    `select owner, key, value from kv where plugin = ?1 and (?2 is null or owner = ?2) and (owner, key) > (?3, ?4)
     order by owner, key limit ?5`,
  );
  const owners = database.prepare('select owner, bytes from kv_usage where plugin = ? and bytes > 0 order by owner');
  const removeBelow = database.prepare(
    'delete from kv where plugin = ?1 and owner = ?2 and key >= ?3 and substr(key, 1, length(?3)) = ?3',
  );

  return {
    get(plugin, owner, key) {
      const row = get.get(plugin, owner, key);
      return row === undefined ? undefined : readText(row, 'value');
    },
    set: (plugin, owner, key, value, quotaBytes) => writeNow(() => set.run(plugin, owner, key, value, quotaBytes)).changes === 1,
    delete: (plugin, owner, key) => writeNow(() => remove.run(plugin, owner, key)).changes === 1,
    list(plugin, owner, { prefix, after, limit }) {
      const found: { key: string; value: string }[] = [];
      for (const row of list.iterate(plugin, owner, prefix, after ?? '', limit)) {
        const key = readText(row, 'key');
        if (!key.startsWith(prefix)) break;
        found.push({ key, value: readText(row, 'value') });
      }
      return found;
    },
    forgetOwners(prefix) {
      for (const row of listOwners.all(prefix)) {
        const of = [readText(row, 'plugin'), readText(row, 'owner')] as const;
        writeNow(() => removeAll.run(...of));
        writeNow(() => forgetUsage.run(...of));
      }
    },
    usedBytes(plugin, owner) {
      const row = usage.get(plugin, owner);
      return row === undefined ? 0 : readNumber(row, 'bytes');
    },
    *page(plugin, { owner, after, limit }) {
      for (const row of page.iterate(plugin, owner ?? null, after?.owner ?? '', after?.key ?? '', limit)) {
        yield { owner: readText(row, 'owner'), key: readText(row, 'key'), value: readText(row, 'value') };
      }
    },
    owners: (plugin) => owners.all(plugin).map((row) => ({ owner: readText(row, 'owner'), bytes: readNumber(row, 'bytes') })),
    deleteAll: (plugin, owner, prefix) => Number(writeNow(() => removeBelow.run(plugin, owner, prefix)).changes),
  };
}
