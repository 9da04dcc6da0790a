/** What an operator approved of an MCP server; see src/mcp-servers. */
export interface McpPinRow {
  readonly server: string;
  /** `command`, or `tool:NAME`. */
  readonly item: string;
  readonly hash: string;
  /** What was approved, as JSON: what a change is compared with. */
  readonly definitionJson: string;
  readonly approvedBy: string;
  readonly approvedAtMs: number;
}

/** Approvals of MCP servers; everything is written at once. */
export interface McpPinTable {
  list(server: string): McpPinRow[];
  put(rows: readonly McpPinRow[]): void;
  remove(server: string): void;
}

/** What was obtained by logging in to MCP servers, as JSON; it holds secrets. */
export interface McpLoginTable {
  list(): ReadonlyArray<{ readonly server: string; readonly stateJson: string }>;
  set(server: string, stateJson: string): void;
  /** False when there was none. */
  remove(server: string): boolean;
}
