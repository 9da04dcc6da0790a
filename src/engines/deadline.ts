/**
 * When a call must be over. The clock stands still while a person is asked: what waits for an answer may wait for days and
 * still has its own time afterwards.
 */
export class Deadline {
  #atMs: number;
  #holds = 0;
  #heldSinceMs = 0;
  readonly #now: () => number;
  readonly #above: Deadline | undefined;

  /**
   * Over in `leftMs`, by a clock that only goes forward: whoever sets the clock of the machine neither ends nor lengthens a
   * call. While this one stands still, so does the one of the call `above` that waits for it.
   */
  constructor(leftMs: number, above?: Deadline, now: () => number = () => performance.now()) {
    this.#now = now;
    this.#atMs = now() + leftMs;
    this.#above = above;
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** Ms that are left; not negative. */
  leftMs(): number {
    return Math.max(0, this.#atMs - (this.#holds === 0 ? this.#now() : this.#heldSinceMs));
  }

  isOver(): boolean {
    return this.#holds === 0 && this.#now() >= this.#atMs;
  }

  /** Lets at most `leftMs` be left. */
  shorten(leftMs: number): void {
    const base = this.#holds === 0 ? this.#now() : this.#heldSinceMs;
    this.#atMs = Math.min(this.#atMs, base + leftMs);
  }

  /** Stops the clock until the returned function is called; holds may overlap. */
  hold(): () => void {
    if (this.#holds++ === 0) this.#heldSinceMs = this.#now();
    const releaseAbove = this.#above?.hold();
    let isOn = true;
    return () => {
      if (!isOn) return;
      isOn = false;
      releaseAbove?.();
      if (--this.#holds === 0) this.#atMs += this.#now() - this.#heldSinceMs;
    };
  }
}

/** While a person is asked, the clock is looked at this often. */
const heldPollMs = 250;
/** The longest delay of a timer. */
const maxDelayMs = 2 ** 31 - 1;

/** Calls `onOver` once, as soon as the deadline is over; the returned function ends the watch. */
export function watchDeadline(deadline: Deadline, onOver: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    if (deadline.isOver()) onOver();
    else timer = setTimeout(look, deadline.isHeld ? heldPollMs : Math.min(Math.max(1, deadline.leftMs()), maxDelayMs));
  };
  timer = setTimeout(look, Math.min(deadline.leftMs(), maxDelayMs));
  return () => clearTimeout(timer);
}
