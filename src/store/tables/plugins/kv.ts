import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf, readNumber, readText } from '../../table.ts';

const entries = defineTable('kv', {
  owner: column.text('owner'),
  key: column.text('key'),
  /** JSON text. */
  value: column.text('value'),
});
const usages = defineTable('kv_usage', { owner: column.text('owner'), bytes: column.number('bytes') });

/** One value with its owner. */
export type KvEntry = RowOf<typeof entries>;
export type KvTable = ReturnType<typeof createKvTable>;

/**
 * Creates the table behind `context.kv`: values per unit (its path) and owner (a caller, or `*` for shared). Triggers keep the bytes
 * that every owner uses.
 */
export function createKvTable(database: DatabaseSync) {
  const get = entries.prepareSelect(database, 'where plugin = ? and owner = ? and key = ?');
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
  const owners = usages.prepareSelect(database, 'where plugin = ? and bytes > 0 order by owner');
  const removeBelow = database.prepare(
    'delete from kv where plugin = ?1 and owner = ?2 and key >= ?3 and substr(key, 1, length(?3)) = ?3',
  );

  return {
    get: (plugin: string, owner: string, key: string): string | undefined => get.first(plugin, owner, key)?.value,
    /** False when the quota in bytes (keys and values, UTF-8) would be passed; nothing is written then. */
    set: (plugin: string, owner: string, key: string, value: string, quotaBytes: number): boolean =>
      writeNow(() => set.run(plugin, owner, key, value, quotaBytes)).changes === 1,
    delete: (plugin: string, owner: string, key: string): boolean => writeNow(() => remove.run(plugin, owner, key)).changes === 1,
    /** Keys with a prefix in order, after `after`. */
    list(plugin: string, owner: string, { prefix, after, limit }: { prefix: string; after?: string; limit: number }) {
      const found: { key: string; value: string }[] = [];
      for (const row of list.iterate(plugin, owner, prefix, after ?? '', limit)) {
        const key = readText(row, 'key');
        if (!key.startsWith(prefix)) break;
        found.push({ key, value: readText(row, 'value') });
      }
      return found;
    },
    /** Deletes what owners whose names begin so keep, in every plugin. */
    forgetOwners(prefix: string): void {
      for (const row of listOwners.all(prefix)) {
        const of = [readText(row, 'plugin'), readText(row, 'owner')] as const;
        writeNow(() => removeAll.run(...of));
        writeNow(() => forgetUsage.run(...of));
      }
    },
    usedBytes(plugin: string, owner: string): number {
      const row = usage.get(plugin, owner);
      return row === undefined ? 0 : readNumber(row, 'bytes');
    },
    /** Entries of all owners, or of one, in order of owner and key, after the given one; read as they are asked for. */
    *page(
      plugin: string,
      {
        owner,
        after,
        limit,
      }: { readonly owner?: string; readonly after?: Pick<KvEntry, 'owner' | 'key'>; readonly limit: number },
    ): Iterable<KvEntry> {
      for (const row of page.iterate(plugin, owner ?? null, after?.owner ?? '', after?.key ?? '', limit)) yield entries.read(row);
    },
    /** Who has values, and how many bytes. */
    owners: (plugin: string) => owners.all(plugin),
    /** Deletes the keys of one owner that begin so; returns how many. */
    deleteAll: (plugin: string, owner: string, prefix: string): number =>
      Number(writeNow(() => removeBelow.run(plugin, owner, prefix)).changes),
  };
}
