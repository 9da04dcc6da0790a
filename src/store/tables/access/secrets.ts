import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { readBytes, readNumber, readText } from '../../column-values.ts';
import type { SecretTable } from '../../permission-types.ts';
import { writeNow } from '../../sqlite-error.ts';

const keyBytes = 32;

/** Creates the table of secrets. A value that is replaced or removed is overwritten in the file, not only given free. */
export function createSecretTable(database: DatabaseSync): SecretTable {
  const list = database.prepare('select * from secrets order by name');
  const upsert = database.prepare(
    `insert into secrets (name, value, binding, updated_at) values (?1, ?2, ?3, ?4)
     on conflict (name) do update set value = excluded.value, binding = excluded.binding, updated_at = excluded.updated_at`,
  );
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
    list: () =>
      list.all().map((row) => ({
        name: readText(row, 'name'),
        value: readText(row, 'value'),
        bindingJson: readText(row, 'binding'),
        updatedAtMs: readNumber(row, 'updated_at'),
      })),
    set: ({ name, value, bindingJson, updatedAtMs }) => void overwriting(() => upsert.run(name, value, bindingJson, updatedAtMs)),
    remove: (name) => overwriting(() => remove.run(name)).changes === 1,
    placeholderKey() {
      const row = readKey.get();
      if (row !== undefined) return readBytes(row, 'key');
      const key = new Uint8Array(randomBytes(keyBytes));
      writeNow(() => insertKey.run(key));
      return key;
    },
  };
}
