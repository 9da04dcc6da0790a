import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf } from '../../table.ts';

const pins = defineTable('mcp_pins', {
  server: column.text('server'),
  /** `command`, or `tool:NAME`. */
  item: column.text('item'),
  hash: column.text('hash'),
  /** What was approved, as JSON: what a change is compared with. */
  definitionJson: column.text('definition'),
  approvedBy: column.text('approved_by'),
  approvedAtMs: column.number('approved_at'),
});

/** What an operator approved of an MCP server; see src/mcp-servers. */
export type McpPinRow = RowOf<typeof pins>;
export type McpPinTable = ReturnType<typeof createMcpPinTable>;

/** Creates the table of what was approved of MCP servers; everything is written at once. */
export function createMcpPinTable(database: DatabaseSync) {
  const ofServer = pins.prepareSelect(database, 'where server = ? order by item');
  const put = pins.preparePut(database, 'server', 'item');
  const remove = database.prepare('delete from mcp_pins where server = ?');
  return {
    list: (server: string) => ofServer.all(server),
    put: (rows: readonly McpPinRow[]): void =>
      writeNow(() => {
        for (const row of rows) put(row);
      }),
    remove: (server: string): void => void writeNow(() => remove.run(server)),
  };
}

const logins = defineTable('mcp_logins', { server: column.text('server'), stateJson: column.text('state') });
export type McpLoginTable = ReturnType<typeof createMcpLoginTable>;

/** Creates the table of what was obtained by logging in to MCP servers, as JSON; it holds secrets. */
export function createMcpLoginTable(database: DatabaseSync) {
  return logins.prepareKeyed(database, ['server']);
}
