import type { DatabaseSync } from 'node:sqlite';
import { readText } from '../../column-values.ts';
import type { WrittenFileTable } from '../../permission-types.ts';
import { writeNow } from '../../sqlite-error.ts';

/** Creates the table of plugin files that others than the operator wrote. */
export function createWrittenFileTable(database: DatabaseSync): WrittenFileTable {
  const upsert = database.prepare(
    `insert into written_files (path, sha256, written_by) values (?, ?, ?)
     on conflict (path) do update set sha256 = excluded.sha256, written_by = excluded.written_by`,
  );
  const list = database.prepare('select * from written_files order by path');

  return {
    list: () =>
      list.all().map((row) => ({
        path: readText(row, 'path'),
        sha256: readText(row, 'sha256'),
        writtenBy: readText(row, 'written_by'),
      })),
    put: ({ path, sha256, writtenBy }) => void writeNow(() => upsert.run(path, sha256, writtenBy)),
  };
}
