import { shareWaiting } from '../../../config/quotas/quota.ts';
import type { CellHolder, CellMemory } from '../cell-call.ts';

/** What a small cell is taken to hold until it is known: finding out costs as much as moving it. */
const LEAST_BYTES = 64 * 1024;

/** Bounds of what calls that wait and idle cells hold, in bytes. */
export interface WaitingBounds {
  readonly maxMemoryBytes: number;
  /** On the disk, for what has no room in memory. */
  readonly maxStoredBytes: number;
}

interface Holding {
  readonly callerId: string;
  readonly where: 'memory' | 'stored';
  bytes: number;
}

/** The book of what lies in cells while nothing runs in them: by caller, and where it is or will be put. */
export class WaitingMemory {
  readonly #bounds: Readonly<Record<Holding['where'], ReturnType<typeof shareWaiting>>>;
  readonly #holdings = new Map<CellMemory, Holding>();
  readonly #total = { memory: 0, stored: 0 };
  readonly #byCaller = { memory: new Map<string, number>(), stored: new Map<string, number>() };

  constructor({ maxMemoryBytes, maxStoredBytes }: WaitingBounds) {
    this.#bounds = { memory: shareWaiting(maxMemoryBytes), stored: shareWaiting(maxStoredBytes) };
  }

  /** Finds room for what a cell holds at the end of a slice; false when there is none. */
  hold(cell: CellMemory, holder: CellHolder, grownBytes: number): boolean {
    this.release(cell);
    const bytes = Math.max(grownBytes, LEAST_BYTES);
    const where = this.#hasRoom('memory', holder, bytes)
      ? 'memory'
      : this.#hasRoom('stored', holder, bytes)
        ? 'stored'
        : undefined;
    if (where === undefined) return false;
    this.#holdings.set(cell, { callerId: holder.callerId, where, bytes: 0 });
    this.correct(cell, bytes);
    return true;
  }

  /** True when the cell is to be put on the disk as soon as it leaves its thread. */
  isForDisk(cell: CellMemory): boolean {
    return this.#holdings.get(cell)?.where === 'stored';
  }

  /** Notes what a cell really holds. */
  correct(cell: CellMemory, bytes: number): void {
    const holding = this.#holdings.get(cell);
    if (!holding) return;
    const { where, callerId } = holding;
    const more = bytes - holding.bytes;
    holding.bytes = bytes;
    this.#total[where] += more;
    const ofCaller = (this.#byCaller[where].get(callerId) ?? 0) + more;
    if (ofCaller === 0) this.#byCaller[where].delete(callerId);
    else this.#byCaller[where].set(callerId, ofCaller);
  }

  /** The cell runs again, or is gone. */
  release(cell: CellMemory): void {
    this.correct(cell, 0);
    this.#holdings.delete(cell);
  }

  #hasRoom(where: Holding['where'], { callerId, isAdmin }: CellHolder, bytes: number): boolean {
    const { perCaller, inAll, reserve } = this.#bounds[where];
    const ofCaller = this.#byCaller[where].get(callerId) ?? 0;
    return this.#total[where] + bytes <= (isAdmin ? inAll : inAll - reserve) && ofCaller + bytes <= perCaller;
  }
}
