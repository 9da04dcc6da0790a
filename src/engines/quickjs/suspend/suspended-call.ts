import type { KeptRecording } from '../../../border/recorder.ts';

/** What a call used of its limits so far. */
export interface SpentBudget {
  cpuMs: number;
  hostCalls: number;
  logLines: number;
  logBytes: number;
  /** Absent in what an older daemon suspended. */
  progress?: number;
  /** The log said that it is full. */
  isLogFull?: boolean;
}

/** A waiting call taken out of its engine: everything that another process needs to go on with it. */
export interface SuspendedCall extends KeptRecording {
  readonly programKey: string;
  /** SHA-256 (hex) of the base image: differences are only right over the very same bytes. */
  readonly base: string;
  readonly seed: readonly [number, number, number];
  readonly startedAtMs: number;
  readonly used: Readonly<SpentBudget>;
  readonly open: readonly SuspendedQuestion[];
  /** What the program's image differs in from the base, and the call's memory from that image. */
  readonly image: Uint8Array;
  readonly delta: Uint8Array;
}

/** A question that waited for its answer; `firesInMs` is what was left of a timer. */
export interface SuspendedQuestion {
  readonly id: number;
  readonly op: string;
  readonly payload: string;
  readonly body?: Uint8Array | undefined;
  readonly firesInMs?: number | undefined;
}
