import type { CellCall } from '../cell-call.ts';
import { maxSlices } from './control.ts';
import type { ThreadWork } from './thread-work.ts';

/** Calls of a program whose slices last less than this on average travel together. */
const SHORT_MS = 0.5;
/** Slices that travel together take so long together. */
const TRIP_MS = 0.2;
/** How long a short call waits for a thread that is about to be free. */
const WORTH_WAITING_MS = 0.5;

/** How long the slices of programs take, and what follows from it for the next ones. Waking a thread takes some 50 µs. */
export class Pace {
  /** Running average by program, in ms. */
  readonly #sliceMs = new Map<string, number>();

  note(programKey: string, sliceMs: number): void {
    const average = this.#sliceMs.get(programKey);
    this.#sliceMs.set(programKey, average === undefined ? sliceMs : average * 0.8 + sliceMs * 0.2);
  }

  forget(programKey: string): void {
    this.#sliceMs.delete(programKey);
  }

  /** True for a call in a cell of its own, at its beginning, of a program that is known to be quick. */
  isShort(call: CellCall): boolean {
    const isFresh = !call.keepCell && call.cell.place.kind === 'new';
    return (isFresh || call.state === 'running') && (this.#sliceMs.get(call.cell.program.key) ?? SHORT_MS) < SHORT_MS;
  }

  /** True while a short call does better to wait for a thread with this work than to wake another. */
  isWorthWaiting(call: CellCall, work: ThreadWork, now: number): boolean {
    const job = work.first?.job;
    const isWaitedOut = now - call.queuedAt > WORTH_WAITING_MS || now - work.startedAt >= WORTH_WAITING_MS;
    return !isWaitedOut && job !== undefined && 'request' in job && this.isShort(job) && this.isShort(call);
  }

  /** How many calls of a program may travel together. */
  tripSize(programKey: string): number {
    return Math.min(maxSlices, Math.floor(TRIP_MS / (this.#sliceMs.get(programKey) ?? TRIP_MS)));
  }
}
