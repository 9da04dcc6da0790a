import { type Static, Type } from 'typebox';
import type { Caller } from '../callers/caller.ts';
import { callLogs, executionError } from '../calls/call-types.ts';
import type { Readable } from '../config/json-object.ts';

/** On which code an execution runs again: what serves now when nothing is said. */
export interface ReplayOn {
  /** A kept generation: its number, or the beginning of its content hash. */
  readonly generation?: string | undefined;
  /** A text as the entry of the plugin, on the disk or not. */
  readonly text?: string | undefined;
}

/** How a call ended, then or now. */
const replayEnd = Type.Object({
  status: Type.Enum(['success', 'error', 'timeout', 'cancelled']),
  output: Type.Optional(Type.Unknown()),
  error: Type.Optional(executionError),
});

/** How a call ended, then or now. */
export type ReplayEnd = Readable<Static<typeof replayEnd>>;

/** What came of a replay. */
export const replayReport = Type.Object({
  executionId: Type.String(),
  tool: Type.String(),
  contentHash: Type.String({ description: 'Of the code that it ran on.' }),
  isSameCode: Type.Boolean({ description: 'It ran on the code that was recorded.' }),
  engine: Type.String(),
  same: Type.Boolean({ description: 'It ended as recorded: with the same output, or the same error.' }),
  // Where it ended otherwise, in a sentence; so are those below.
  difference: Type.Optional(Type.String()),
  recorded: replayEnd,
  now: replayEnd,
  asked: Type.Array(Type.String(), { description: 'What it asked the host otherwise than was recorded.' }),
  notes: Type.Array(Type.String(), { description: "Why a difference may not be the code's." }),
  logs: callLogs,
  durationMs: Type.Number(),
});

/** What came of a replay. */
export type ReplayReport = Readable<Static<typeof replayReport>>;

/** Runs executions again. Nothing outside of a cell is touched, and there is no record of it. */
export interface Replays {
  /**
   * Throws `execution-unknown` for what is not the caller's, `not-replayable`, `forbidden` for code that a caller may not choose,
   * `generation-unknown`, `reload-failed` for a text that does not build, and `queue-full`.
   */
  replay(id: string, on: ReplayOn, by: { readonly caller: Caller; readonly signal: AbortSignal }): Promise<ReplayReport>;
}
