/** Calls back when the earliest of some points in time has come. */
export interface Expiry {
  /** Replaces what was armed before. */
  arm(timesMs: readonly number[]): void;
  close(): void;
}

/** Timers of Node hold no longer than this; a later time is waited for in steps. */
const maxDelayMs = 2 ** 31 - 1;

/** Creates an expiry with nothing armed; it keeps no process alive. */
export function createExpiry(now: () => number, onTime: () => void): Expiry {
  let timer: NodeJS.Timeout | undefined;

  function arm(timesMs: readonly number[]): void {
    clearTimeout(timer);
    if (timesMs.length === 0) return;
    const atMs = timesMs.reduce((one, other) => Math.min(one, other));
    const delayMs = Math.min(maxDelayMs, Math.max(0, atMs - now()));
    timer = setTimeout(() => (now() < atMs ? arm(timesMs) : onTime()), delayMs);
    timer.unref();
  }

  return { arm, close: () => clearTimeout(timer) };
}
