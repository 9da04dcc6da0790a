import type { DatabaseSync } from 'node:sqlite';
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

/** Creates the table of calls for later, the next one first; everything is written at once. */
export function createScheduleTable(database: DatabaseSync) {
  return schedules.prepareKeyed(database, ['id'], 'order by next_at');
}
