import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText, type SqlRow } from '../../column-values.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { RegisteredToolRow, RegisteredToolTable } from '../../tool-rows.ts';

/** Creates the table of tools that operators registered. */
export function createRegisteredToolTable(database: DatabaseSync): RegisteredToolTable {
  const list = database.prepare('select * from registered_tools order by made_at, name');
  const get = database.prepare('select * from registered_tools where name = ?');
  const count = database.prepare('select count(*) as tools from registered_tools');
  const put = database.prepare(
    'insert or replace into registered_tools (name, definition, author, made_by, made_at) values (?, ?, ?, ?, ?)',
  );
  const remove = database.prepare('delete from registered_tools where name = ?');
  return {
    list: () => list.all().map(readRow),
    get(name) {
      const row = get.get(name);
      return row === undefined ? undefined : readRow(row);
    },
    count() {
      const row = count.get();
      return row === undefined ? 0 : readNumber(row, 'tools');
    },
    put: ({ name, definitionJson, author, madeBy, madeAtMs }) =>
      void writeNow(() => put.run(name, definitionJson, author, madeBy, madeAtMs)),
    remove: (name) => void writeNow(() => remove.run(name)),
  };
}

function readRow(row: SqlRow): RegisteredToolRow {
  return {
    name: readText(row, 'name'),
    definitionJson: readText(row, 'definition'),
    author: readText(row, 'author'),
    madeBy: readText(row, 'made_by'),
    madeAtMs: readNumber(row, 'made_at'),
  };
}
