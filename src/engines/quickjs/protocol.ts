/** Messages between the engine on the main thread and its worker threads. A worker runs one slice at a time. */
import type { BorderAnswer, BorderCrossing, BorderView, LogLine } from '../../border/border.ts';
import type { AnsweredAtOnce } from '../earlier-answers.ts';
import type { ThrowReport } from '../throw-report.ts';
import type { BaseImage } from './cell/base-image.ts';

/** What a worker thread is started with. */
export interface WorkerSetup {
  readonly module: WebAssembly.Module;
  readonly base: BaseImage;
  readonly lazyModules: Readonly<Record<string, string>>;
  /** Int32s that both sides write: see control.ts. */
  readonly control: SharedArrayBuffer;
  /** Where the usual calls and their ends lie: see mailbox.ts. */
  readonly mailbox: SharedArrayBuffer;
}

/** Limits of one slice: what is left of the limits of the call. */
export interface SliceBudget {
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
  readonly outputBytes: number;
  readonly logBytes: number;
  readonly logLines: number;
  readonly progress: number;
  readonly hostCalls: number;
  readonly pendingHostCalls: number;
  /** What the questions that wait at the same time may hold, in bytes. */
  readonly pendingHostBytes: number;
}

/** A delivered answer with the id that the guest gave the question. */
export interface DeliveredAnswer {
  readonly id: number;
  readonly answer: BorderAnswer;
}

/** Evaluates a bundle and freezes the result. */
export interface LoadSlice {
  readonly type: 'load';
  readonly serial: number;
  /** The code; what it came to makes the key of the program of it, unless that is to be built again. */
  readonly programKey: string;
  readonly isRebuild: boolean;
  readonly code: string;
  readonly fileBase: string;
  readonly budget: SliceBudget;
}

/** Starts or continues a call. */
export interface CallSlice {
  readonly serial: number;
  readonly cellId: number;
  readonly programKey: string;
  /** The program's image, when the worker does not have it. */
  readonly image?: Uint8Array;
  /** What the cell had written over its image; absent for a new cell and for one that is resident in the worker. */
  readonly delta?: Uint8Array;
  /** The same where it was put on the disk. */
  readonly deltaFile?: string;
  readonly start?: CallStart;
  readonly answers?: readonly DeliveredAnswer[];
  /** Questions that stay unanswered after `answers`. */
  readonly pending: number;
  /** Absent when there is nothing to read. */
  readonly view?: BorderView;
  /** Absent when it is that of a call that begins with all limits at their defaults. */
  readonly budget?: SliceBudget;
  /** The call goes the way of an earlier one. */
  readonly earlier?: AnsweredAtOnce;
  /** The cell lives on after the call (isolation session or plugin). */
  readonly keep: boolean;
}

/** What starts a call: a handler or a hook. */
export interface CallStart {
  readonly hook: string | undefined;
  /** Absent for the default one, and with a hook. */
  readonly handler?: string | undefined;
  readonly argumentsJson: string;
  readonly factsJson: string;
}

/** Forgets images and cells that nobody needs any more. */
export interface ForgetMessage {
  readonly type: 'forget';
  readonly programKeys: readonly string[];
  readonly cellIds: readonly number[];
}

/** Asks for the memory of a cell at rest, or to put it into a file; the answer is a ParkedMessage. */
export interface ParkOrder {
  readonly type: 'park';
  readonly cellId: number;
  readonly file?: string;
}

/** Slices of short calls travel together: a message to another thread costs more than the call. */
export interface CallSlices {
  readonly type: 'calls';
  readonly slices: readonly CallSlice[];
}

export type ToWorker = LoadSlice | CallSlices | ForgetMessage | ParkOrder | PackedSlices;

/** A question that the guest asked during a slice. */
export interface Question {
  readonly id: number;
  readonly op: string;
  readonly payload: string;
  readonly body: Uint8Array | undefined;
}

/** How a slice ended. `waiting`: the call has questions open and is suspended. */
export type SliceEnd =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'return'; readonly text: string }
  | { readonly kind: 'throw'; readonly report: ThrowReport }
  | { readonly kind: 'stopped'; readonly reason: 'cpu' | 'memory' | 'abort' | 'no room' }
  | { readonly kind: 'never-settles' };

/** What a slice did. Empty lists are left out: most calls have none of them. */
export interface CallSliceResult {
  readonly type: 'call-slice';
  readonly serial: number;
  readonly end: SliceEnd;
  readonly questions?: readonly Question[];
  readonly logs?: readonly LogLine[];
  readonly progress?: ReadonlyArray<{ readonly done: number; readonly total?: number; readonly message?: string }>;
  /** Answers that were given inside the slice and that a replay needs. */
  readonly crossings?: readonly BorderCrossing[];
  /** True when there were more of them than are kept. */
  readonly crossingsDropped: boolean;
  /** Names of the view that were read and are denied. */
  readonly deniedNames?: readonly string[];
  /** Questions that wait at the daemon and were taken back. */
  readonly cancelled?: readonly number[];
  /** What was asked in the slice that ended the call: nobody awaited it, so it is not carried out. */
  readonly abandoned?: readonly Question[];
  readonly hostCalls: number;
  readonly cpuMs: number;
  /** How much the memory that stays grew over its image; absent when it is little. */
  readonly grownBytes?: number;
  /** Noted by the main thread: there was no room for what stays. */
  readonly hasNoRoom?: boolean;
  /** The cell of a session or plugin was lost: its instance could not be trusted any more. */
  readonly cellLost: boolean;
}

/** What a load gave. */
export interface LoadSliceResult {
  readonly type: 'load-slice';
  readonly serial: number;
  readonly end:
    | { readonly kind: 'loaded'; readonly exportedJson: string; readonly image: Uint8Array; readonly programKey: string }
    | Exclude<SliceEnd, { kind: 'waiting' | 'return' }>;
  readonly logs: readonly LogLine[];
}

/** The memory of a waiting or idle cell, moved out because its worker is needed. Arrives before the slice that needed it ends. */
export interface ParkedMessage {
  readonly type: 'parked';
  readonly cellId: number;
  readonly memory: ParkedMemory;
}

/** Where the memory of a cell is now; `failed` when the file system did not take it. */
export type ParkedMemory =
  | { readonly kind: 'parked'; readonly delta: Uint8Array }
  | { readonly kind: 'stored'; readonly file: string; readonly bytes: number }
  | { readonly kind: 'failed'; readonly detail: string };

export type FromWorker = CallSliceResult | LoadSliceResult | ParkedMessage | { readonly type: 'ready' };

/** What really travels: the usual result is packed. */
export type PackedFromWorker = FromWorker | PackedResult;

/** Several fresh calls of one program with nothing unusual: program, then serial, cell, arguments and facts of each. */
export type PackedSlices = readonly (string | number)[];

/** The end of a call that returned and did nothing else: serial, text, time on the processor. */
export type PackedResult = readonly [serial: number, text: string, cpuMs: number];
