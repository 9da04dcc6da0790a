import type { Caller } from '../../callers/caller.ts';
import type { ToolEntry } from '../../tools/tool-types.ts';

/** A call that would be accepted as it is. */
export interface CallQuestion {
  readonly entry: ToolEntry;
  /** Checked against the tool. */
  readonly arguments: unknown;
  readonly caller: Caller;
  readonly session: string;
  /** The execution that makes this call, for a call within a call. */
  readonly parent: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Checks other arguments against the tool. Throws `arguments-invalid` or `payload-too-large`. */
  readonly check: (args: unknown) => void;
}

/** Is asked about a call before it begins. */
export interface BeforeCall {
  /** False when nobody wants to be asked about this tool: the call goes on at once. */
  wants(entry: ToolEntry): boolean;
  /** The arguments to go on with, which are checked once more. Rejects with the refusal, a HotcellError. */
  ask(question: CallQuestion): Promise<unknown>;
}
