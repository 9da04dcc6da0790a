import type { LogLine } from '../border/border.ts';
import type { Caller } from '../callers/caller.ts';
import type { ExecutionError } from '../calls/call-types.ts';

/** How a call ended, then or now. */
export interface ReplayEnd {
  readonly status: 'success' | 'error' | 'timeout' | 'cancelled';
  readonly output?: unknown;
  readonly error?: ExecutionError;
}

/** On which code an execution runs again: what serves now when nothing is said. */
export interface ReplayOn {
  /** A kept generation: its number, or the beginning of its content hash. */
  readonly generation?: string | undefined;
  /** A text as the entry of the plugin, on the disk or not. */
  readonly text?: string | undefined;
}

/** What came of a replay. */
export interface ReplayReport {
  readonly executionId: string;
  readonly tool: string;
  /** The code that it ran on, and whether that is what was recorded. */
  readonly contentHash: string;
  readonly isSameCode: boolean;
  readonly engine: string;
  /** It ended as it was recorded: with the same output, or the same error. */
  readonly same: boolean;
  /** Where it ended otherwise, in a sentence. */
  readonly difference?: string;
  readonly recorded: ReplayEnd;
  readonly now: ReplayEnd;
  /** What it asked the host otherwise than it was recorded, in whole sentences; empty when all was the same. */
  readonly asked: readonly string[];
  /** Why a difference may not be the code's, in whole sentences. */
  readonly notes: readonly string[];
  readonly logs: readonly LogLine[];
  readonly durationMs: number;
}

/** Runs executions again. Nothing outside of a cell is touched, and there is no record of it. */
export interface Replays {
  /**
   * Throws `execution-unknown` for what is not the caller's, `not-replayable`, `forbidden` for code that a caller may not choose,
   * `generation-unknown`, `reload-failed` for a text that does not build, and `queue-full`.
   */
  replay(id: string, on: ReplayOn, by: { readonly caller: Caller; readonly signal: AbortSignal }): Promise<ReplayReport>;
}
