import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../../column-values.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { ScheduleTable } from '../../tool-rows.ts';

/** Creates the table of calls that are to be made later. */
export function createScheduleTable(database: DatabaseSync): ScheduleTable {
  const list = database.prepare('select * from schedules order by next_at');
  const put = database.prepare(
    'insert or replace into schedules (id, caller, session, tool, arguments, time, next_at, made_at) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const remove = database.prepare('delete from schedules where id = ?');
  return {
    list: () =>
      list.all().map((row) => ({
        id: readText(row, 'id'),
        caller: readText(row, 'caller'),
        session: readText(row, 'session'),
        tool: readText(row, 'tool'),
        argumentsJson: readText(row, 'arguments'),
        timeJson: readText(row, 'time'),
        nextAtMs: readNumber(row, 'next_at'),
        madeAtMs: readNumber(row, 'made_at'),
      })),
    put: ({ id, caller, session, tool, argumentsJson, timeJson, nextAtMs, madeAtMs }) =>
      void writeNow(() => put.run(id, caller, session, tool, argumentsJson, timeJson, nextAtMs, madeAtMs)),
    remove: (id) => void writeNow(() => remove.run(id)),
  };
}
