import type { BorderCrossing, BorderHost, Recording } from '../border.ts';
import type { GuestError, RunOutcome, RunRequest, RunUsage } from '../engine.ts';
import type { CallStart, DeliveredAnswer, SliceBudget } from './protocol.ts';
import type { WorkerThread } from './worker-thread.ts';

/** The memory of one cell, wherever it is: not begun, in a worker thread, on its way out of one, or here. */
export interface CellMemory {
  readonly id: number;
  readonly programKey: string;
  place:
    | { kind: 'new' }
    | { kind: 'resident'; thread: WorkerThread }
    | { kind: 'moving'; from: WorkerThread }
    | { kind: 'parked'; delta: Uint8Array };
}

/** One call between its start and its end. */
export interface ActiveCall {
  readonly request: RunRequest;
  readonly host: BorderHost;
  readonly cell: CellMemory;
  readonly keepCell: boolean;
  readonly seed: readonly [number, number, number];
  readonly startedAtMs: number;
  state: 'queued' | 'running' | 'waiting' | 'ended';
  start: CallStart | undefined;
  answers: DeliveredAnswer[];
  /** Questions without an answer yet; aborting ends the work behind them. */
  readonly open: Map<number, OpenQuestion>;
  readonly used: { cpuMs: number; hostCalls: number; logLines: number; logBytes: number };
  readonly crossings: BorderCrossing[];
  recordingBytes: number;
  recordingComplete: boolean;
  thread: WorkerThread | undefined;
  /** Set when the call was ended from outside while its slice runs. */
  ending: { status: 'timeout' | 'cancelled'; error: GuestError } | undefined;
  readonly finish: (outcome: RunOutcome) => void;
}

/** A question on its way. */
export interface OpenQuestion {
  readonly op: string;
  readonly payload: string;
  readonly cancel: () => void;
  /** The guest's number, when the question is a timer. */
  readonly timer?: number;
}

const MAX_RECORDING_BYTES = 1024 * 1024;

/** Keeps a crossing for the recording while there is room; the recording says when there was not. */
export function recordCrossing(call: ActiveCall, crossing: BorderCrossing): void {
  const bytes =
    crossing.payload.length + (crossing.answer.ok ? crossing.answer.payload.length + (crossing.answer.body?.length ?? 0) : 100);
  if (call.recordingBytes + bytes > MAX_RECORDING_BYTES) {
    call.recordingComplete = false;
    return;
  }
  call.recordingBytes += bytes;
  call.crossings.push(crossing);
}

/** What is left of the limits of a call for its next slice. */
export function budgetOf(call: ActiveCall): SliceBudget {
  const { limits } = call.request;
  return {
    cpuMs: Math.max(1, limits.cpuMs - call.used.cpuMs),
    memoryBytes: limits.memoryBytes,
    stackBytes: limits.stackBytes,
    outputBytes: limits.outputBytes,
    logBytes: Math.max(0, limits.logBytes - call.used.logBytes),
    logLines: Math.max(0, limits.logLines - call.used.logLines),
    hostCalls: Math.max(0, limits.hostCalls - call.used.hostCalls),
    pendingHostCalls: limits.pendingHostCalls,
  };
}

/** What a call used. */
export function usageOf(call: ActiveCall): RunUsage {
  return { cpuMs: call.used.cpuMs, hostCalls: call.used.hostCalls, logLines: call.used.logLines };
}

/** What crossed the border during a call. */
export function recordingOf(call: ActiveCall): Recording {
  return {
    seed: call.seed.join(','),
    startedAtMs: call.startedAtMs,
    crossings: call.crossings,
    complete: call.recordingComplete,
  };
}
