/** One loop of a model and its tools, as it is kept. */
export interface LoopRow {
  readonly id: string;
  readonly caller: string;
  readonly purpose: string;
  readonly model: string;
  /** What it was started with; empty once it has ended. */
  readonly requestJson: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly endJson: string | null;
}

/** Loops and their steps. Everything is written at once: what a step tells of happens after it. */
export interface LoopTable {
  put(row: LoopRow): void;
  addStep(id: string, stepJson: string): void;
  /** Oldest first, as JSON. */
  stepsOf(id: string): string[];
  /** Puts the end in the place of the request and the steps. */
  end(id: string, endJson: string, endedAtMs: number): void;
  get(id: string): LoopRow | undefined;
  /** Newest first; with a caller only its own. */
  list(query: { readonly caller?: string; readonly limit: number }): LoopRow[];
  /** Those without an end, oldest first. */
  listOpen(): LoopRow[];
  remove(id: string): void;
  /** Bytes of one caller's loops, or of all. */
  bytes(caller?: string): number;
  /** Removes those that ended before. */
  prune(endedBeforeMs: number): void;
  /** Of one caller, or of all; false when none is left. */
  removeOldestEnded(caller?: string): boolean;
}
