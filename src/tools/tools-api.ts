import type { LogLine } from '../border/border.ts';
import type { Caller } from '../callers/caller.ts';
import type { CallAnswer, CallRequest, Execution, ExecutionStatus } from '../calls/call-types.ts';
import type { PublishedGeneration, ToolEntry } from './tool-types.ts';

/** All tools that can be called now, keyed `name@version`. Reads are cheap: the registry is memory. */
export interface ToolRegistry {
  /**
   * Puts the tools of one plugin in place of those it had, atomically. Throws `tool-duplicate` (naming both files) and
   * changes nothing when a `name@version` belongs to another plugin.
   */
  publish(pluginPath: string, published: PublishedGeneration): void;
  /** Takes the tools of one plugin out. */
  withdraw(pluginPath: string): void;
  /**
   * `name` (the highest version, prereleases last), `name@1.2.3` or `name@^1`; throws `tool-unknown` with near names. What
   * `sees` does not let through is unknown, also among the near names.
   */
  resolve(ref: string, sees?: (entry: ToolEntry) => boolean): ToolEntry;
  list(): readonly ToolEntry[];
}

/** The Call journey. */
export interface ToolCaller {
  /**
   * Resolves, admits, runs and records one call. Rejects with a HotcellError when the call was refused before it ran;
   * everything that happens later is in the answer. When it resolves, the record is committed.
   */
  call(request: CallRequest): Promise<CallAnswer>;
  /** Cancels a pending or running execution; false when it had ended. Throws `execution-unknown`. */
  cancel(executionId: string, caller: Caller): boolean;
  /**
   * Resolves when an execution has ended and its record is committed, at the latest after `waitMs` or when `signal` aborts.
   * Asks nobody's rights.
   */
  ended(executionId: string, waitMs: number, signal: AbortSignal): Promise<void>;
  /** The last lines that an execution logged, also of one that runs; empty once its recording is gone. Asks nobody's rights. */
  readLogs(executionId: string): Promise<readonly LogLine[]>;
  /** Calls that wait for a cell, and that run. */
  load(): { readonly pending: number; readonly running: number };
  /** Refuses new calls and waits for the running ones, at most `deadlineMs`; what is left is cancelled. */
  drain(deadlineMs: number): Promise<void>;
}

/** Reads of the records of calls; a caller sees its own, an admin all. */
export interface ExecutionReader {
  list(query: ExecutionQuery, caller: Caller): { items: Execution[]; next?: string; total: number };
  /** Throws `execution-unknown`, also for somebody else's. */
  get(id: string, caller: Caller): Execution;
}

/** What to list: newest first; `cursor` is the `next` of the page before. */
export interface ExecutionQuery {
  readonly tool?: string;
  readonly status?: ExecutionStatus;
  readonly caller?: string;
  /** Only the calls that this execution made. */
  readonly parent?: string;
  readonly limit?: number;
  readonly cursor?: string;
}
