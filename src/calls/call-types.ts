import type { LogLine } from '../border/border.ts';
import type { Caller } from '../callers/caller.ts';
import type { GuestError, StackFrame } from '../engines/engine.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { Unit } from '../units/unit.ts';

/** The states of an execution. */
export type ExecutionStatus = 'pending' | 'running' | 'success' | 'error' | 'timeout' | 'cancelled';

/** Why an execution failed, as doors show it. Files are relative to the plugin's root folder. */
export interface ExecutionError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly name?: string;
  readonly frames?: readonly StackFrame[];
  readonly codeFrame?: string;
  /** Permissions that the call was refused, such as `net=api.example.com`, also where the plugin said nothing of it. */
  readonly refused?: readonly string[];
  readonly fix: string;
}

/** The record of one call. */
export interface Execution {
  readonly id: string;
  readonly tool: string;
  readonly version: string;
  readonly plugin: string;
  readonly generation: string;
  readonly caller: string;
  readonly session: string;
  readonly status: ExecutionStatus;
  readonly arguments: unknown;
  readonly output?: unknown;
  readonly error?: ExecutionError;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly durationMs?: number;
  readonly attempts: number;
  readonly idempotencyKey?: string;
  /** The execution that made this call through `context.tools.call`. */
  readonly parent?: string;
  /** What ran it; of several attempts the last. Absent in records of older versions. */
  readonly engine?: string;
  /** Of these values the record has the beginning alone, as text; and how many bytes each of them had. */
  readonly cut?: { readonly arguments?: number; readonly output?: number };
  /** What went wrong without ending it. */
  readonly warnings?: readonly string[];
  /** The last lines that it logged, where one execution is read: kept as long as its recording. */
  readonly logs?: readonly LogLine[];
}

/** What the client behind a door can be asked for while its call runs: to fill in a form, for a model, for its folders. */
export type ClientAbility = 'form' | 'sampling' | 'roots';

/** What a door asks for. */
export interface CallRequest {
  /** `name`, `name@version` or `name@range`. */
  readonly ref: string;
  readonly arguments: unknown;
  readonly caller: Caller;
  /** A prompt or a resource, which no `ref` finds: whoever asks has seen to it that the caller may know of it. */
  readonly entry?: ToolEntry;
  /** Nothing where the door did not say. */
  readonly clientCan?: readonly ClientAbility[];
  readonly session?: string;
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
  /** The call that makes this one through `context.tools.call`. */
  readonly parent?: {
    readonly executionId: string;
    readonly chain: readonly string[];
    /** The executions above, outermost first, this parent last: who follows one of them hears what is asked here. */
    readonly above?: readonly string[];
    /** The question of its guest that this call answers, by which it finds the call again after a restart. */
    readonly question?: number;
  };
  /** Nothing but the built-in tools of the daemon may run, in it and below it. */
  readonly isBuiltinOnly?: boolean;
  /** A model chose this tool within another call, whoever made that one: tools for people are none of its choice. */
  readonly isForModel?: boolean;
  /** One turn of a model: of its calls those that are not marked isParallelSafe run one after the other. */
  readonly turn?: string;
  /** Told the id of the execution before anything happens in it. Must not throw. */
  readonly onAccepted?: (executionId: string) => void;
  /** Aborting cancels the call. */
  readonly signal?: AbortSignal;
  /** Sees log lines and progress as they come. Must not throw. */
  readonly onLog?: (line: LogLine) => void;
}

/** The answer of a call that ran. */
export interface CallAnswer {
  readonly executionId: string;
  readonly status: Exclude<ExecutionStatus, 'pending' | 'running'>;
  readonly output?: unknown;
  readonly error?: ExecutionError;
  readonly durationMs: number;
  /** What went wrong without ending it: refusals that the plugin swallowed, unhandled rejections, values that JSON cannot say. */
  readonly warnings?: readonly string[];
  /** It was run again on a higher engine after it had used up what it may have on the one that it asks for. */
  readonly climbed?: { readonly from: string; readonly to: string; readonly reason: string };
  /** True when an earlier execution with the same idempotency key answered. */
  readonly replayed?: boolean;
}

/** Turns a guest's failure into what doors show: positions in the user's own files, with a code frame. */
export type ExplainGuestError = (error: GuestError, unit: Unit) => Promise<ExecutionError>;

/** The Call journey. */
export interface ToolCaller {
  /**
   * Resolves, admits, runs and records one call. Rejects with a HotcellError when the call was refused before it ran;
   * everything that happens later is in the answer. When it resolves, the record is committed.
   */
  call(request: CallRequest): Promise<CallAnswer>;
  /** Cancels a pending or running execution; false when it had ended. Throws `execution-unknown`. */
  cancel(executionId: string, caller: Caller): boolean;
  /** Cancels whatever a caller has under way, also what waits for a person or is not accepted yet. For good: its key was revoked. */
  shutOut(callerId: string): void;
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
