/** Everything that the daemon tells. Names are noun-verb; a subject is the name of the plugin, tool or execution. */
export interface EventDataByType {
  'daemon-start': { version: string; url: string };
  'daemon-stop': { reason: string };
  'plugin-change': {
    path: string;
    state: string;
    previousState: string;
    reason: string;
    generation?: number;
    durationMs?: number;
    /** What it waits to be granted, as words of a command. */
    pending?: string;
  };
  'plugin-diagnostic': {
    path: string;
    code: string;
    message: string;
    file?: string;
    line?: number;
    column?: number;
    codeFrame?: string;
    fix: string;
  };
  'plugin-removed': { path: string; reason: string };
  'tools-change': { added: readonly string[]; removed: readonly string[]; changed: readonly string[] };
  'execution-start': { tool: string; version: string; session: string };
  /** A call that was refused for its arguments, before there was an execution. */
  'execution-refusal': { tool: string; code: string; message: string };
  'execution-progress': { done: number; total?: number; message?: string };
  'execution-log': { level: string; text: string };
  'execution-end': { tool: string; version: string; status: string; durationMs: number; code?: string };
  /** The memory of a session's or plugin's cell is gone. */
  'cell-loss': { path: string; reason: string };
  'permission-use': { tool: string; permission: string; detail: string; allowed: boolean };
  'grant-change': {
    action: 'granted' | 'revoked' | 'expired';
    grant: string;
    permissions: string;
    scope: string;
    by: string;
  };
  'approval-request': {
    approval: string;
    kind: string;
    reason: string;
    /** Of kind confirm the plugin's own text. */
    question: string;
    tool?: string;
    execution?: string;
    expiresAtMs: number;
  };
  'approval-answer': {
    approval: string;
    kind: string;
    status: 'approved' | 'denied' | 'expired' | 'withdrawn';
    by: string;
    tool?: string;
    execution?: string;
  };
  /** A plugin, or one call of it, runs on a higher engine than the one it asks for. */
  'engine-change': { from: string; to: string; reason: string; path?: string; tool?: string; execution?: string };
  /** A name of a plugin or tool belongs to another unit from now on; by `daemon` when the file of its owner is gone. */
  'name-change': { from: string; to: string; by: string };
  'secret-change': { action: 'set' | 'removed'; binding: string; by: string };
  'hook-change': { state: string; previousState: string; hash: string; reason: string; by?: string };
  /** A hook stopped a call before it began; `code` is hook-refused or hook-failed. */
  'hook-refusal': { tool: string; code: string; message: string };
  'hook-problem': { message: string };
  'watch-problem': { path: string; message: string };
  'storage-problem': { path: string; message: string };
  /** The config file was edited: keys in force from now on, keys that wait for a restart, or why it cannot be used. */
  'config-change': { path: string; applied: readonly string[]; restart: readonly string[]; problem?: string };
}

/** The type of an event. */
export type EventType = keyof EventDataByType;

/** One event on its way: what happened, to whom, for whom. `caller` is null for what concerns the daemon itself. */
export type EventEnvelope = {
  [Type in EventType]: {
    /** Durable: rises for ever, also over restarts; 0 for fleeting events that are not kept (log, progress). */
    readonly seq: number;
    readonly type: Type;
    /** Epoch ms. */
    readonly at: number;
    readonly caller: string | null;
    readonly subject: string;
    readonly data: EventDataByType[Type];
  };
}[EventType];

/** Publishes and keeps events. */
export interface EventLog {
  /** Gives the event its sequence number, keeps it and tells subscribers. Must not throw because of a subscriber. */
  publish<Type extends EventType>(
    type: Type,
    event: { caller?: string | null; subject: string; data: EventDataByType[Type] },
  ): void;
  /** Calls `listener` for every later event that the filter lets through; returns the end of the subscription. */
  subscribe(filter: EventFilter, listener: (event: EventEnvelope) => void): () => void;
  /** Kept events after `seq`, oldest first, at most `limit`. */
  readAfter(seq: number, filter: EventFilter, limit: number): EventEnvelope[];
  /** The newest sequence number. */
  lastSeq(): number;
}

/** Which events somebody may see: all for an admin, else only those of the caller and those of nobody that are public. */
export interface EventFilter {
  readonly caller?: string;
  /** Of news about tools only those that it lets through are told; all when absent. */
  readonly seesTool?: (name: string) => boolean;
  readonly types?: readonly EventType[];
  /** Only what happens in this execution, and what is asked and answered in it. */
  readonly execution?: string;
}
