import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../../column-values.ts';
import type { ToolUseTable } from '../../tool-rows.ts';
import type { WriteQueue } from '../../write-queue.ts';

/** Creates the table of how often tools were called. */
export function createToolUseTable(database: DatabaseSync, queue: WriteQueue): ToolUseTable {
  const list = database.prepare('select * from tool_uses');
  const put = database.prepare('insert or replace into tool_uses (path, tool, calls, last_used_at) values (?, ?, ?, ?)');
  return {
    list: () =>
      list.all().map((row) => ({
        path: readText(row, 'path'),
        tool: readText(row, 'tool'),
        calls: readNumber(row, 'calls'),
        lastUsedAtMs: readNumber(row, 'last_used_at'),
      })),
    put: ({ path, tool, calls, lastUsedAtMs }) => queue.add({ apply: () => put.run(path, tool, calls, lastUsedAtMs) }),
  };
}
