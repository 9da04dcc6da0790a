import type { CellCall } from '../cell-call.ts';
import type { LoadEnd } from '../load.ts';
import type { LoadOrder } from './worker-thread.ts';

/** A load that waits or runs. */
export interface LoadJob {
  readonly order: LoadOrder;
  readonly resolve: (result: LoadEnd) => void;
}

/** Something that a thread has to do, in the order in which it does it. */
export interface WorkItem {
  readonly serial: number;
  /** Its place in the message that brought it. */
  readonly index: number;
  readonly job: CellCall | LoadJob;
  /** How long it may take, in ms, before its thread is ended. */
  limitMs: number;
}

/** What one thread has been given and not answered yet; the first item is the one that runs. */
export class ThreadWork {
  #items: WorkItem[];
  #looks = 0;
  #lookedAt: number;
  /** The item for which its thread is being ended. */
  culprit: WorkItem | undefined;
  /** When the first item began, as performance.now() tells. */
  startedAt: number;

  constructor(items: WorkItem[], now: number) {
    this.#items = items;
    this.startedAt = now;
    this.#lookedAt = now;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): WorkItem | undefined {
    return this.#items[0];
  }

  /** Takes the item with this serial number out; the next one begins now. */
  finish(serial: number, now: number): WorkItem | undefined {
    const index = this.#items.findIndex((item) => item.serial === serial);
    if (index < 0) return undefined;
    this.startedAt = now;
    this.#lookedAt = now;
    return this.#items.splice(index, 1)[0];
  }

  /**
   * True when the slice that runs has not looked at the clock for as long as it may take. One that does look ends by itself,
   * and may only be slow because the machine is busy.
   */
  isDeaf(looks: number, now: number): boolean {
    if (looks !== this.#looks) [this.#looks, this.#lookedAt] = [looks, now];
    return this.first !== undefined && now - this.#lookedAt > this.first.limitMs;
  }

  find(job: CellCall): WorkItem | undefined {
    return this.#items.find((item) => item.job === job);
  }

  /** Takes out what the thread has not begun, as far as `takeBack` succeeds. */
  takeBack(takeBack: (item: WorkItem) => boolean): WorkItem[] {
    const [first, ...rest] = this.#items;
    const taken = rest.filter(takeBack);
    this.#items = first ? [first, ...rest.filter((item) => !taken.includes(item))] : [];
    return taken;
  }

  all(): readonly WorkItem[] {
    return this.#items;
  }
}
