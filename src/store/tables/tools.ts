import type { DatabaseSync } from 'node:sqlite';
import { readNumber } from '../column-values.ts';
import { writeNow } from '../sqlite-error.ts';
import { column, defineTable, type RowOf } from '../table.ts';
import type { WriteQueue } from '../write-queue.ts';

const settings = defineTable('tool_settings', {
  /** Of the unit that brings the tool: a setting does not pass to another unit that takes the name. */
  path: column.text('path'),
  tool: column.text('tool'),
  mode: column.textOrNull('mode'),
  who: column.textOrNull('who'),
  /** The caller id. */
  setBy: column.text('set_by'),
  setAtMs: column.number('set_at'),
});

export type ToolSettingTable = ReturnType<typeof createToolSettingTable>;

/** Creates the table of what an operator set for single tools while the daemon ran; everything is written at once. */
export function createToolSettingTable(database: DatabaseSync) {
  const all = settings.prepareSelect(database, 'order by path, tool');
  const put = settings.preparePut(database, 'path', 'tool');
  const remove = database.prepare('delete from tool_settings where path = ? and tool = ?');
  return {
    list: () => all.all(),
    put: (row: RowOf<typeof settings>): void => void writeNow(() => put(row)),
    remove: (path: string, tool: string): void => void writeNow(() => remove.run(path, tool)),
  };
}

const switches = defineTable('tool_switches', {
  name: column.text('name'),
  setBy: column.text('set_by'),
  setAtMs: column.number('set_at'),
});
export type ToolSwitchTable = ReturnType<typeof createToolSwitchTable>;

/** Creates the table of the switches for all tools that somebody turned off while the daemon ran; everything is written at once. */
export function createToolSwitchTable(database: DatabaseSync) {
  const all = switches.prepareSelect(database, 'order by name');
  const put = switches.preparePut(database, 'name');
  const remove = database.prepare('delete from tool_switches where name = ?');
  return {
    list: () => all.all(),
    put: (row: RowOf<typeof switches>): void => void writeNow(() => put(row)),
    remove: (name: string): void => void writeNow(() => remove.run(name)),
  };
}

const uses = defineTable('tool_uses', {
  path: column.text('path'),
  tool: column.text('tool'),
  calls: column.number('calls'),
  lastUsedAtMs: column.number('last_used_at'),
});
export type ToolUseTable = ReturnType<typeof createToolUseTable>;

/** Creates the table of how often tools were called. */
export function createToolUseTable(database: DatabaseSync, queue: WriteQueue) {
  const all = uses.prepareSelect(database, '');
  const put = uses.preparePut(database, 'path', 'tool');
  return {
    list: () => all.all(),
    /** Queued. */
    put: (row: RowOf<typeof uses>): void => queue.add({ apply: () => put(row) }),
  };
}

const registered = defineTable('registered_tools', {
  name: column.text('name'),
  definitionJson: column.text('definition'),
  author: column.text('author'),
  /** The caller id. */
  madeBy: column.text('made_by'),
  madeAtMs: column.number('made_at'),
});
export type RegisteredToolTable = ReturnType<typeof createRegisteredToolTable>;

/** Creates the table of tools that operators registered while the daemon ran; everything is written at once. */
export function createRegisteredToolTable(database: DatabaseSync) {
  const all = registered.prepareSelect(database, 'order by made_at, name');
  const byName = registered.prepareSelect(database, 'where name = ?');
  const count = database.prepare('select count(*) as tools from registered_tools');
  const put = registered.preparePut(database, 'name');
  const remove = database.prepare('delete from registered_tools where name = ?');
  return {
    list: () => all.all(),
    get: (name: string) => byName.first(name),
    count: () => readNumber(count.get() ?? {}, 'tools'),
    put: (row: RowOf<typeof registered>): void => void writeNow(() => put(row)),
    remove: (name: string): void => void writeNow(() => remove.run(name)),
  };
}
