import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from './column-values.ts';
import type { NameTable } from './permission-types.ts';
import { writeNow } from './sqlite-error.ts';

/** Creates the table of names of plugins and tools, and of the files that own them. */
export function createNameTable(database: DatabaseSync): NameTable {
  const upsert = database.prepare(
    `insert into names (name, path, is_owner, since) values (?, ?, ?, ?)
     on conflict (name, path) do update set is_owner = excluded.is_owner, since = excluded.since`,
  );
  const remove = database.prepare('delete from names where name = ? and path = ?');
  const begin = database.prepare('savepoint write_names');
  const end = database.prepare('release write_names');
  const list = database.prepare('select * from names order by since, path, name');

  return {
    list: () =>
      list.all().map((row) => ({
        name: readText(row, 'name'),
        path: readText(row, 'path'),
        isOwner: readNumber(row, 'is_owner') === 1,
        since: readNumber(row, 'since'),
      })),
    write: (rows, removed) =>
      writeNow(() => {
        begin.run();
        try {
          for (const { name, path } of removed) remove.run(name, path);
          for (const { name, path, isOwner, since } of rows) upsert.run(name, path, isOwner ? 1 : 0, since);
          end.run();
        } catch (error) {
          database.exec('rollback to write_names; release write_names');
          throw error;
        }
      }),
  };
}
