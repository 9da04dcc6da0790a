import { type Static, Type } from 'typebox';
import type { LogLine } from '../border/border.ts';
import type { Caller } from '../callers/caller.ts';
import type { Readable } from '../config/json-object.ts';
import type { GuestError, StackFrame } from '../engines/engine.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { Unit } from '../units/unit.ts';

/** The states of an execution. */
export const executionStatus = Type.Enum(['pending', 'running', 'success', 'error', 'timeout', 'cancelled']);

/** The states of an execution. */
export type ExecutionStatus = Static<typeof executionStatus>;

const stackFrame = Type.Object({ file: Type.String(), line: Type.Number(), column: Type.Number() });

/** Why an execution failed, as doors show it. Files are relative to the plugin's root folder. */
export const executionError = Type.Object({
  code: Type.Unsafe<ErrorCode>(Type.String()),
  message: Type.String(),
  name: Type.Optional(Type.String()),
  frames: Type.Optional(Type.Array(Type.Unsafe<StackFrame>(stackFrame))),
  codeFrame: Type.Optional(Type.String()),
  refused: Type.Optional(
    Type.Array(Type.String(), { description: 'Permissions that the call was refused, such as net=api.example.com.' }),
  ),
  fix: Type.String(),
});

/** Why an execution failed. */
export type ExecutionError = Readable<Static<typeof executionError>>;

/** The last lines that a call logged. */
export const callLogs = Type.Array(
  Type.Unsafe<LogLine>(Type.Object({ level: Type.String(), text: Type.String(), atMs: Type.Number() })),
);

/** What went wrong in a call without ending it: swallowed refusals, unhandled rejections, values that JSON cannot say. */
const callWarnings = Type.Array(Type.String(), { description: 'What went wrong without ending it, in whole sentences.' });

/** The record of one call. */
export const execution = Type.Object({
  id: Type.String(),
  tool: Type.String(),
  version: Type.String(),
  plugin: Type.String(),
  generation: Type.String(),
  caller: Type.String(),
  session: Type.String(),
  status: executionStatus,
  arguments: Type.Unknown(),
  output: Type.Optional(Type.Unknown()),
  error: Type.Optional(executionError),
  createdAtMs: Type.Number(),
  startedAtMs: Type.Optional(Type.Number()),
  endedAtMs: Type.Optional(Type.Number()),
  durationMs: Type.Optional(Type.Number()),
  attempts: Type.Integer(),
  idempotencyKey: Type.Optional(Type.String()),
  parent: Type.Optional(Type.String({ description: 'The execution that made this call through context.tools.call.' })),
  // Absent in records of older versions.
  engine: Type.Optional(Type.String({ description: 'What ran it; of several attempts the last.' })),
  cut: Type.Optional(
    Type.Object(
      { arguments: Type.Optional(Type.Integer()), output: Type.Optional(Type.Integer()) },
      { description: 'Of these values the record has the beginning alone, as text; and how many bytes each of them had.' },
    ),
  ),
  warnings: Type.Optional(callWarnings),
  // There where one execution is read, as long as its recording is kept.
  logs: Type.Optional(callLogs),
});

/** The record of one call. */
export type Execution = Readable<Static<typeof execution>>;

/** What every answer of a call has, beside its output. */
export const callAnswerProperties = {
  executionId: Type.String(),
  status: Type.Unsafe<Exclude<ExecutionStatus, 'pending' | 'running'>>(executionStatus),
  error: Type.Optional(executionError),
  durationMs: Type.Number(),
  warnings: Type.Optional(callWarnings),
  // An earlier execution with the same idempotency key answered.
  replayed: Type.Optional(Type.Boolean()),
  // Set where the call had used up what it may have on the engine that it asks for.
  climbed: Type.Optional(
    Type.Object(
      { from: Type.String(), to: Type.String(), reason: Type.String() },
      { description: 'It was run again on a higher engine.' },
    ),
  ),
};

/** The answer of a call that ran. */
export const callAnswer = Type.Object({ ...callAnswerProperties, output: Type.Optional(Type.Unknown()) });

/** The answer of a call that ran. */
export type CallAnswer = Readable<Static<typeof callAnswer>>;

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
