import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText, readTextOrNull, type SqlRow } from '../../column-values.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { PluginRow, PluginTable } from '../../store-types.ts';

/** Creates the table of plugin files. */
export function createPluginTable(database: DatabaseSync): PluginTable {
  const upsert = database.prepare(
    `insert into plugins (path, name, state, enabled, current_generation, pinned_away_from, diagnostic, transitions)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (path) do update set name = excluded.name, state = excluded.state, enabled = excluded.enabled,
       current_generation = excluded.current_generation, pinned_away_from = excluded.pinned_away_from,
       diagnostic = excluded.diagnostic, transitions = excluded.transitions`,
  );
  const get = database.prepare('select * from plugins where path = ?');
  const list = database.prepare('select * from plugins order by path');
  const remove = database.prepare('delete from plugins where path = ?');

  return {
    upsert(row) {
      writeNow(() =>
        upsert.run(
          row.path,
          row.name,
          row.state,
          row.enabled ? 1 : 0,
          row.currentGeneration,
          row.pinnedAwayFrom,
          row.diagnosticJson,
          row.transitionsJson,
        ),
      );
    },
    get(path) {
      const row = get.get(path);
      return row === undefined ? undefined : readPlugin(row);
    },
    list: () => list.all().map(readPlugin),
    delete(path) {
      writeNow(() => remove.run(path));
    },
  };
}

function readPlugin(row: SqlRow): PluginRow {
  return {
    path: readText(row, 'path'),
    name: readText(row, 'name'),
    state: readText(row, 'state'),
    enabled: readNumber(row, 'enabled') === 1,
    currentGeneration: readTextOrNull(row, 'current_generation'),
    pinnedAwayFrom: readTextOrNull(row, 'pinned_away_from'),
    diagnosticJson: readTextOrNull(row, 'diagnostic'),
    transitionsJson: readText(row, 'transitions'),
  };
}
