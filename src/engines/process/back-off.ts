import { BoundedMap } from '../../queues/bounded-map.ts';

/** How long the processes of one program wait after they crashed, in ms: nothing after the first, then twice as long each time. */
export function backOffMs(crashesInARow: number): number {
  return crashesInARow <= 1 ? 0 : Math.min(100 * 2 ** (crashesInARow - 2), 10_000);
}

/** Remembers which programs crash. */
export interface CrashCount {
  crashed(programKey: string): void;
  /** A turn of the program ended by itself. */
  recovered(programKey: string): void;
  /** How long its next process must wait. */
  waitMs(programKey: string): number;
}

const maxPrograms = 1000;

/** Creates the count. `now` is a clock in ms. */
export function createCrashCount(now: () => number = () => performance.now()): CrashCount {
  const crashes = new BoundedMap<string, { count: number; atMs: number }>(maxPrograms);
  return {
    crashed(programKey) {
      const count = (crashes.get(programKey)?.count ?? 0) + 1;
      crashes.set(programKey, { count, atMs: now() });
    },
    recovered: (programKey) => void crashes.delete(programKey),
    waitMs(programKey) {
      const known = crashes.get(programKey);
      return known ? Math.max(0, known.atMs + backOffMs(known.count) - now()) : 0;
    },
  };
}
