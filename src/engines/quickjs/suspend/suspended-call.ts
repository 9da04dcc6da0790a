import type { BorderCrossing } from '../../../border/border.ts';
import type { ActiveCall } from '../active-call.ts';

/** A waiting call taken out of its engine: everything that another process needs to go on with it. */
export interface SuspendedCall {
  readonly programKey: string;
  /** SHA-256 (hex) of the base image: differences are only right over the very same bytes. */
  readonly base: string;
  readonly seed: readonly [number, number, number];
  readonly startedAtMs: number;
  readonly used: ActiveCall['used'];
  readonly crossings: readonly BorderCrossing[];
  readonly recordingBytes: number;
  readonly recordingComplete: boolean;
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

/** What a waiting call is beside its memory, as of now. */
export function describeWaiting(call: ActiveCall, now: number): Omit<SuspendedCall, 'base' | 'image' | 'delta'> {
  return {
    programKey: call.request.program.key,
    seed: call.seed,
    startedAtMs: call.startedAtMs,
    used: { ...call.used },
    crossings: [...call.crossings],
    recordingBytes: call.recordingBytes,
    recordingComplete: call.recordingComplete,
    open: [...call.open].map(([id, { op, payload, body, firesAt }]) => ({
      id,
      op,
      payload,
      ...(body && { body }),
      ...(firesAt !== undefined && { firesInMs: Math.max(0, Math.round(firesAt - now)) }),
    })),
  };
}
