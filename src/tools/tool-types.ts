import type { LogLine } from '../border/border.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { Engine, GuestError, StackFrame } from '../engines/engine.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import type { GrantUse } from '../permissions/select-grants.ts';
import type { Generation } from '../units/generation.ts';
import type { PluginManifest, ToolManifest } from '../units/manifest.ts';

/** What the operator laid down for one key; what is absent is not limited. */
export interface CallerRules {
  /** Names of tools, `*` for any text: the only ones that this caller ever hears of. */
  readonly tools?: readonly string[];
  /** Calls a minute. */
  readonly ratePerMinute?: number;
  /** Calls under way at once. */
  readonly maxConcurrent?: number;
  /** May answer questions that its own calls asked: a chat front end with a person behind it. */
  readonly mayAnswer?: boolean;
  /** Epoch ms. */
  readonly expiresAtMs?: number;
}

/** Who calls. `local` is the operator on the machine itself. */
export interface Caller extends CallerRules {
  readonly id: string;
  readonly role: 'admin' | 'caller';
  /** Nobody knows who: the id is of this one request, and what it leaves behind is deleted when its call is over. */
  readonly isAnonymous?: boolean;
}

/** A published generation as the registry holds it: calls take a lease, so that a drain knows when the last one ended. */
export interface PublishedGeneration {
  /** Where its tools come from; a plugin when nobody says. */
  readonly source?: ToolEntry['source'];
  /** Runs it in place of the engine that its manifest names. */
  readonly engine?: Engine;
  readonly generation: Generation;
  readonly manifest: PluginManifest;
  /** What is granted to it now, within a call when one is given. */
  readonly granted: (use?: GrantUse) => PermissionSet;
  /** Counts a call in; the returned function counts it out. Throws `plugin-not-ready` after the drain deadline. */
  readonly lease: () => () => void;
}

/** One callable thing. */
export interface ToolEntry {
  readonly name: string;
  readonly version: string;
  readonly source: 'plugin' | 'builtin' | 'mcp' | 'skill';
  /** The name of its unit, for people; what is granted and kept belongs to the path of the generation. */
  readonly plugin: string;
  /** Its name belongs to another unit: it answers to `name@version` alone. */
  readonly isSecond?: true;
  readonly manifest: ToolManifest;
  readonly published: PublishedGeneration;
}

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

/** What a door asks for. */
export interface CallRequest {
  /** `name`, `name@version` or `name@range`. */
  readonly ref: string;
  readonly arguments: unknown;
  readonly caller: Caller;
  readonly session?: string;
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
  /** The call that makes this one through `context.tools.call`. */
  readonly parent?: { readonly executionId: string; readonly chain: readonly string[] };
  /** One turn of a model: of its calls those that are not marked isParallelSafe run one after the other. */
  readonly turn?: string;
  /** Said again in the `execution-start` event, so that whoever calls knows which execution is its own. */
  readonly tag?: string;
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
export type ExplainGuestError = (error: GuestError, generation: Generation) => Promise<ExecutionError>;
