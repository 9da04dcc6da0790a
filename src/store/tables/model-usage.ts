import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../column-values.ts';
import { writeNow } from '../sqlite-error.ts';
import type { ModelUsageTable } from '../store-types.ts';

/** Creates the table of tokens; everything is written at once, so that no crash gives a budget twice. */
export function createModelUsageTable(database: DatabaseSync): ModelUsageTable {
  // One statement checks the budget and writes, so that nothing comes between.
  const reserve = database.prepare(
    `insert into model_usage (plugin_path, caller, day, tokens) select ?1, ?2, ?3, ?4
     where coalesce((select tokens from model_usage where plugin_path = ?1 and caller = ?2 and day = ?3), 0) + ?4 <= ?5
     on conflict (plugin_path, caller, day) do update set tokens = tokens + excluded.tokens`,
  );
  const settle = database.prepare(
    'update model_usage set tokens = max(0, tokens + ?) where plugin_path = ? and caller = ? and day = ?',
  );
  const used = database.prepare('select tokens from model_usage where plugin_path = ? and caller = ? and day = ?');
  const list = database.prepare(
    'select * from model_usage where day = ?1 and (?2 is null or caller = ?2) order by tokens desc, plugin_path, caller limit ?3',
  );
  const prune = database.prepare('delete from model_usage where day < ?');

  return {
    reserve: ({ unitPath, caller, day }, tokens, budget) =>
      writeNow(() => reserve.run(unitPath, caller, day, tokens, budget)).changes === 1,
    settle: ({ unitPath, caller, day }, difference) => void writeNow(() => settle.run(difference, unitPath, caller, day)),
    used({ unitPath, caller, day }) {
      const row = used.get(unitPath, caller, day);
      return row === undefined ? 0 : readNumber(row, 'tokens');
    },
    list: (day, { caller, limit }) =>
      list.all(day, caller ?? null, limit).map((row) => ({
        unitPath: readText(row, 'plugin_path'),
        caller: readText(row, 'caller'),
        day: readNumber(row, 'day'),
        tokens: readNumber(row, 'tokens'),
      })),
    prune: (beforeDay) => void writeNow(() => prune.run(beforeDay)),
  };
}
