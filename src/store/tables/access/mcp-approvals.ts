import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../../column-values.ts';
import type { McpLoginTable, McpPinTable } from '../../mcp-types.ts';
import { writeNow } from '../../sqlite-error.ts';

/** Creates the table of what was approved of MCP servers. */
export function createMcpPinTable(database: DatabaseSync): McpPinTable {
  const list = database.prepare('select * from mcp_pins where server = ? order by item');
  const upsert = database.prepare(
    `insert into mcp_pins (server, item, hash, definition, approved_by, approved_at) values (?1, ?2, ?3, ?4, ?5, ?6)
     on conflict (server, item) do update set
       hash = excluded.hash, definition = excluded.definition, approved_by = excluded.approved_by, approved_at = excluded.approved_at`,
  );
  const remove = database.prepare('delete from mcp_pins where server = ?');
  return {
    list: (server) =>
      list.all(server).map((row) => ({
        server: readText(row, 'server'),
        item: readText(row, 'item'),
        hash: readText(row, 'hash'),
        definitionJson: readText(row, 'definition'),
        approvedBy: readText(row, 'approved_by'),
        approvedAtMs: readNumber(row, 'approved_at'),
      })),
    put(rows) {
      writeNow(() => {
        for (const { server, item, hash, definitionJson, approvedBy, approvedAtMs } of rows)
          upsert.run(server, item, hash, definitionJson, approvedBy, approvedAtMs);
      });
    },
    remove: (server) => void writeNow(() => remove.run(server)),
  };
}

/** Creates the table of logins to MCP servers. */
export function createMcpLoginTable(database: DatabaseSync): McpLoginTable {
  const list = database.prepare('select * from mcp_logins');
  const upsert = database.prepare(
    'insert into mcp_logins (server, state) values (?1, ?2) on conflict (server) do update set state = excluded.state',
  );
  const remove = database.prepare('delete from mcp_logins where server = ?');
  return {
    list: () => list.all().map((row) => ({ server: readText(row, 'server'), stateJson: readText(row, 'state') })),
    set: (server, stateJson) => void writeNow(() => upsert.run(server, stateJson)),
    remove: (server) => writeNow(() => remove.run(server)).changes === 1,
  };
}
