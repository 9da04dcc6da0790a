/** One call, as kept. JSON columns are text here; times are whole epoch ms; `endedAtMs` is null until the call ended. */
export interface ExecutionRow {
  readonly id: string;
  readonly tool: string;
  readonly version: string;
  readonly plugin: string;
  readonly generation: string;
  readonly caller: string;
  readonly session: string;
  readonly status: 'pending' | 'running' | 'success' | 'error' | 'timeout' | 'cancelled';
  readonly argumentsJson: string;
  readonly outputJson: string | null;
  readonly errorJson: string | null;
  /** A list of sentences; null when there are none, and in rows of older versions. */
  readonly warningsJson: string | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly durationMs: number | null;
  readonly attempts: number;
  readonly idempotencyKey: string | null;
  /** The call that made this one through `context.tools.call`. */
  readonly parent: string | null;
  /** What ran it, the last attempt of several; null in rows of older versions. */
  readonly engine: string | null;
  /** JSON with the length in bytes of `arguments` and `output` where this row has their beginning alone; else null. */
  readonly cutJson: string | null;
}

/** Which executions: those that fit every value. */
export interface ExecutionFilter {
  readonly tool?: string;
  readonly status?: string;
  readonly caller?: string;
  readonly parent?: string;
}

export interface ExecutionTable {
  /** Queued. */
  insert(row: ExecutionRow): void;
  /** Queued: the row is written in its new state; insert and updates of one turn become one write. */
  update(row: ExecutionRow): void;
  get(id: string): ExecutionRow | undefined;
  /** Newest first; `before` is an id (ids sort by time). */
  list(query: ExecutionFilter & { before?: string; limit: number }): ExecutionRow[];
  count(query: ExecutionFilter): number;
  /**
   * After a crash: every pending or running row without a parked call becomes `error` with this error, and idempotency keys
   * whose execution was never written are free again; returns how many rows were ended so.
   */
  interruptUnfinished(errorJson: string, atMs: number): number;
  /**
   * Queued. Keeps the newest `keep` rows, those that have not ended and those that an idempotency key still names. Where all
   * of them with their recordings hold more than `maxBytes`, the oldest that ended go, of the caller who has most, also those
   * that a key names. Deletes at most 1000 rows a time, so that no call waits long for it: ask at least every 1000 calls.
   */
  prune(keep: number, maxBytes: number): void;
}
