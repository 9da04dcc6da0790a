import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../sqlite-error.ts';
import { column, defineTable, type RowOf, readNumber } from '../table.ts';

const usage = defineTable('model_usage', {
  unitPath: column.text('plugin_path'),
  caller: column.text('caller'),
  /** Days since 1970-01-01 in UTC. */
  day: column.number('day'),
  tokens: column.number('tokens'),
});

/** Whose tokens, on which day. */
export type ModelUsageKey = Omit<RowOf<typeof usage>, 'tokens'>;

export type ModelUsageTable = ReturnType<typeof createModelUsageTable>;

/** Creates the table of tokens by plugin, caller and day; everything is written at once, so that no crash gives a budget twice. */
export function createModelUsageTable(database: DatabaseSync) {
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
  const ofDay = usage.prepareSelect(
    database,
    'where day = ?1 and (?2 is null or caller = ?2) order by tokens desc, plugin_path, caller limit ?3',
  );
  const prune = database.prepare('delete from model_usage where day < ?');

  return {
    /** Adds tokens; false, and nothing is added, when there would be more than the budget. */
    reserve: ({ unitPath, caller, day }: ModelUsageKey, tokens: number, budget: number): boolean =>
      writeNow(() => reserve.run(unitPath, caller, day, tokens, budget)).changes === 1,
    /** Corrects a reservation by the difference to what was used; the sum may pass a budget. */
    settle: ({ unitPath, caller, day }: ModelUsageKey, difference: number): void =>
      void writeNow(() => settle.run(difference, unitPath, caller, day)),
    used({ unitPath, caller, day }: ModelUsageKey): number {
      const row = used.get(unitPath, caller, day);
      return row === undefined ? 0 : readNumber(row, 'tokens');
    },
    /** Most tokens first; with a caller only its own. */
    list: (day: number, { caller, limit }: { readonly caller?: string; readonly limit: number }) =>
      ofDay.all(day, caller ?? null, limit),
    /** Forgets earlier days. */
    prune: (beforeDay: number): void => void writeNow(() => prune.run(beforeDay)),
  };
}
