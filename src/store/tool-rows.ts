/** What an operator set for one tool while the daemon ran. */
export interface ToolSettingRow {
  /** Of the unit that brings the tool: a setting does not pass to another unit that takes the name. */
  readonly path: string;
  readonly tool: string;
  readonly mode: string | null;
  readonly who: string | null;
  /** The caller id. */
  readonly setBy: string;
  readonly setAtMs: number;
}

/** Settings of tools; everything is written at once. */
export interface ToolSettingTable {
  list(): ToolSettingRow[];
  put(row: ToolSettingRow): void;
  remove(path: string, tool: string): void;
}

/** A switch for all tools that somebody turned off while the daemon ran. */
export interface ToolSwitchRow {
  readonly name: string;
  readonly setBy: string;
  readonly setAtMs: number;
}

/** Switches that are off; everything is written at once. */
export interface ToolSwitchTable {
  list(): ToolSwitchRow[];
  put(row: ToolSwitchRow): void;
  remove(name: string): void;
}

/** How often a tool was called. */
export interface ToolUseRow {
  readonly path: string;
  readonly tool: string;
  readonly calls: number;
  readonly lastUsedAtMs: number;
}

/** Counts of calls by tool. */
export interface ToolUseTable {
  list(): ToolUseRow[];
  /** Queued. */
  put(row: ToolUseRow): void;
}

/** A tool that an operator registered while the daemon ran. */
export interface RegisteredToolRow {
  readonly name: string;
  readonly definitionJson: string;
  readonly author: string;
  /** The caller id. */
  readonly madeBy: string;
  readonly madeAtMs: number;
}

/** A call that is to be made later. */
export interface ScheduleRow {
  readonly id: string;
  /** The caller id. */
  readonly caller: string;
  readonly session: string;
  readonly tool: string;
  readonly argumentsJson: string;
  /** Once, or by which rule again. */
  readonly timeJson: string;
  readonly nextAtMs: number;
  readonly madeAtMs: number;
}

/** Calls for later by id; everything is written at once. */
export interface ScheduleTable {
  /** The next one first. */
  list(): ScheduleRow[];
  put(row: ScheduleRow): void;
  remove(id: string): void;
}

/** Registered tools by name; everything is written at once. */
export interface RegisteredToolTable {
  list(): RegisteredToolRow[];
  get(name: string): RegisteredToolRow | undefined;
  count(): number;
  put(row: RegisteredToolRow): void;
  remove(name: string): void;
}
