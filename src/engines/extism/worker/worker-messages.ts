import type { BorderCrossing, LogLine } from '../../../border/border.ts';
import type { AnsweredAtOnce } from '../../earlier-answers.ts';
import type { GuestError } from '../../engine.ts';
import type { ModuleShape } from '../module/module-contract.ts';

/** What the host asks of a worker; it does one thing at a time. */
export type WorkerTask =
  | { readonly type: 'compile'; readonly bytes: Uint8Array; readonly memoryBytes: number }
  | { readonly type: 'run'; readonly call: ModuleCall };

/** One call of one export in a fresh instance. */
export interface ModuleCall {
  /** Names the module for as long as the daemon runs. */
  readonly moduleKey: string;
  /** Absent when the worker has it from an earlier call. */
  readonly module?: WebAssembly.Module;
  readonly exportName: string;
  readonly input: string;
  readonly config: Readonly<Record<string, string>>;
  /** Names whose use is refused, with the sentence. */
  readonly denied: Readonly<Record<string, string>>;
  readonly facts: CallFacts;
  readonly bounds: CallBounds;
  /** The call goes the way of an earlier one. */
  readonly earlier?: AnsweredAtOnce;
}

/** What a built module may know of its call. */
export interface CallFacts {
  readonly executionId: string;
  readonly caller: string;
  readonly session: string;
  /** Values of the config that are no text; `config` has them as JSON. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The part of the limits that the worker itself keeps; time is the host's. */
export interface CallBounds {
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly logBytes: number;
  readonly logLines: number;
  readonly hostCalls: number;
}

/** A worker and its pool keep track of as many modules, the latest ones, in the same order. */
export const keptModules = 32;

/** What a worker did for a call. */
export interface WorkerUsage {
  /** What its thread has spent since it started, in ms. */
  readonly threadCpuMs: number;
  readonly cpuMs: number;
  readonly logLines: number;
  readonly hostCalls: number;
  /** What it drew from the clock and at random, and whether that is all. */
  readonly drawn?: { readonly crossings: readonly BorderCrossing[]; readonly isCut: boolean };
}

/** What a worker says. `log` and `ask` may come many times; any other report ends the task. */
export type WorkerReport =
  | { readonly type: 'log'; readonly line: LogLine }
  | { readonly type: 'denied'; readonly name: string }
  | { readonly type: 'ask'; readonly id: number; readonly op: string; readonly payload: string; readonly body?: Uint8Array }
  | { readonly type: 'compiled'; readonly module: WebAssembly.Module; readonly shape: ModuleShape }
  | { readonly type: 'returned'; readonly output: string; readonly usage: WorkerUsage }
  | { readonly type: 'failed'; readonly error: GuestError; readonly usage: WorkerUsage };
