import { BoundedMap } from '../../collections/bounded-map.ts';

/** How long the processes of one program wait after they crashed, in ms: nothing after the first, then twice as long each time. */
export function backOffMs(crashesInARow: number): number {
  return crashesInARow <= 1 ? 0 : Math.min(100 * 2 ** (crashesInARow - 2), 10_000);
}

const maxPrograms = 1000;

/** Remembers which programs crash. */
export class CrashCount {
  readonly #crashes = new BoundedMap<string, { count: number; atMs: number }>(maxPrograms);
  readonly #now: () => number;

  /** `now` is a clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  crashed(programKey: string): void {
    this.#crashes.set(programKey, { count: (this.#crashes.get(programKey)?.count ?? 0) + 1, atMs: this.#now() });
  }

  /** A turn of the program ended by itself. */
  recovered(programKey: string): void {
    this.#crashes.delete(programKey);
  }

  /** How long its next process must wait. */
  waitMs(programKey: string): number {
    const known = this.#crashes.get(programKey);
    return known ? Math.max(0, known.atMs + backOffMs(known.count) - this.#now()) : 0;
  }
}
