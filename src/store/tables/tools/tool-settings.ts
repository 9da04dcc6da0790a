import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText, readTextOrNull } from '../../column-values.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { ToolSettingTable, ToolSwitchTable } from '../../tool-rows.ts';

/** Creates the table of what was set for single tools. */
export function createToolSettingTable(database: DatabaseSync): ToolSettingTable {
  const list = database.prepare('select * from tool_settings order by path, tool');
  const upsert = database.prepare(
    `insert into tool_settings (path, tool, mode, who, set_by, set_at) values (?, ?, ?, ?, ?, ?)
     on conflict (path, tool) do update set
       mode = excluded.mode, who = excluded.who, set_by = excluded.set_by, set_at = excluded.set_at`,
  );
  const remove = database.prepare('delete from tool_settings where path = ? and tool = ?');
  return {
    list: () =>
      list.all().map((row) => ({
        path: readText(row, 'path'),
        tool: readText(row, 'tool'),
        mode: readTextOrNull(row, 'mode'),
        who: readTextOrNull(row, 'who'),
        setBy: readText(row, 'set_by'),
        setAtMs: readNumber(row, 'set_at'),
      })),
    put: ({ path, tool, mode, who, setBy, setAtMs }) => void writeNow(() => upsert.run(path, tool, mode, who, setBy, setAtMs)),
    remove: (path, tool) => void writeNow(() => remove.run(path, tool)),
  };
}

/** Creates the table of the switches that are off. */
export function createToolSwitchTable(database: DatabaseSync): ToolSwitchTable {
  const list = database.prepare('select * from tool_switches order by name');
  const put = database.prepare('insert or replace into tool_switches (name, set_by, set_at) values (?, ?, ?)');
  const remove = database.prepare('delete from tool_switches where name = ?');
  return {
    list: () =>
      list.all().map((row) => ({
        name: readText(row, 'name'),
        setBy: readText(row, 'set_by'),
        setAtMs: readNumber(row, 'set_at'),
      })),
    put: ({ name, setBy, setAtMs }) => void writeNow(() => put.run(name, setBy, setAtMs)),
    remove: (name) => void writeNow(() => remove.run(name)),
  };
}
