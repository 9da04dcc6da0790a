import type { DatabaseSync } from 'node:sqlite';
import { column, defineTable, type RowOf, readNumber } from '../table.ts';
import type { WriteQueue } from '../write-queue.ts';

const settings = defineTable('tool_settings', {
  /** The path of the unit that brings the tool: a setting does not pass to another unit that takes the name. */
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
  return settings.prepareKeyed(database, ['path', 'tool']);
}

const switches = defineTable('tool_switches', {
  name: column.text('name'),
  setBy: column.text('set_by'),
  setAtMs: column.number('set_at'),
});
export type ToolSwitchTable = ReturnType<typeof createToolSwitchTable>;

/** Creates the table of the switches for all tools that somebody turned off while the daemon ran; everything is written at once. */
export function createToolSwitchTable(database: DatabaseSync) {
  return switches.prepareKeyed(database, ['name']);
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
  const byName = registered.prepareSelect(database, 'where name = ?');
  const count = database.prepare('select count(*) as tools from registered_tools');
  return {
    ...registered.prepareKeyed(database, ['name'], 'order by made_at, name'),
    get: (name: string) => byName.first(name),
    count: () => readNumber(count.get() ?? {}, 'tools'),
  };
}
