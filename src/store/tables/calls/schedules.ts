import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf } from '../../table.ts';

const schedules = defineTable('schedules', {
  id: column.text('id'),
  /** The caller id. */
  caller: column.text('caller'),
  session: column.text('session'),
  tool: column.text('tool'),
  argumentsJson: column.text('arguments'),
  /** Once, or by which rule again. */
  timeJson: column.text('time'),
  nextAtMs: column.number('next_at'),
  madeAtMs: column.number('made_at'),
});

/** A call that is to be made later. */
export type ScheduleRow = RowOf<typeof schedules>;
export type ScheduleTable = ReturnType<typeof createScheduleTable>;

/** Creates the table of calls for later; everything is written at once. */
export function createScheduleTable(database: DatabaseSync) {
  const all = schedules.prepareSelect(database, 'order by next_at');
  const put = schedules.preparePut(database, 'id');
  const remove = database.prepare('delete from schedules where id = ?');
  return {
    /** The next one first. */
    list: () => all.all(),
    put: (row: ScheduleRow): void => void writeNow(() => put(row)),
    remove: (id: string): void => void writeNow(() => remove.run(id)),
  };
}
