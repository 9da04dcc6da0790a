import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf, readBytes } from '../../table.ts';

const secrets = defineTable('secrets', {
  name: column.text('name'),
  value: column.text('value'),
  /** Hosts and header or query parameter. */
  bindingJson: column.text('binding'),
  updatedAtMs: column.number('updated_at'),
});

/** A secret of the operator. */
export type SecretRow = RowOf<typeof secrets>;
export type SecretTable = ReturnType<typeof createSecretTable>;

const keyBytes = 32;

/**
 * Creates the table of secrets; everything is written at once. A value that is replaced or removed is overwritten in the file, not only
 * given free.
 */
export function createSecretTable(database: DatabaseSync) {
  const all = secrets.prepareSelect(database, 'order by name');
  const put = secrets.preparePut(database, 'name');
  const remove = database.prepare('delete from secrets where name = ?');
  const readKey = database.prepare('select key from secret_key');
  const insertKey = database.prepare('insert into secret_key (only, key) values (1, ?)');

  function overwriting<Result>(write: () => Result): Result {
    database.exec('pragma secure_delete = on');
    try {
      return writeNow(write);
    } finally {
      database.exec('pragma secure_delete = off; pragma wal_checkpoint(truncate);');
    }
  }

  return {
    list: () => all.all(),
    set: (row: SecretRow): void => void overwriting(() => put(row)),
    /** False when there was none. */
    remove: (name: string): boolean => overwriting(() => remove.run(name)).changes === 1,
    /** The key that placeholders are made with; made on first use. */
    placeholderKey(): Uint8Array {
      const row = readKey.get();
      if (row !== undefined) return readBytes(row, 'key');
      const key = new Uint8Array(randomBytes(keyBytes));
      writeNow(() => insertKey.run(key));
      return key;
    },
  };
}
