import type { DatabaseSync } from 'node:sqlite';
import { column, defineTable, type RowOf, writeTogether } from '../table.ts';

const names = defineTable('names', {
  name: column.text('name'),
  /** The path of the unit that uses the name. */
  path: column.text('path'),
  /** At most one unit owns a name. */
  isOwner: column.flag('is_owner'),
  /** Counts up: what came later has a higher number. */
  since: column.number('since'),
});

/** That a unit uses a name of a plugin or a tool, or of its file (`file:weather`); see src/names/name-registry.ts. */
export type NameRow = RowOf<typeof names>;
export type NameTable = ReturnType<typeof createNameTable>;

/** Creates the table of names of plugins and tools, and of the files that own them; everything is written at once. */
export function createNameTable(database: DatabaseSync) {
  const put = names.preparePut(database, 'name', 'path');
  const remove = database.prepare('delete from names where name = ? and path = ?');
  const select = names.prepareSelect(database, 'order by since, path, name');

  return {
    list: () => select.all(),
    /** Removes, then writes, in one step: owners last. */
    write: (rows: readonly NameRow[], removed: readonly Pick<NameRow, 'name' | 'path'>[]): void =>
      writeTogether(database, () => {
        for (const { name, path } of removed) remove.run(name, path);
        for (const row of rows) put(row);
      }),
  };
}
