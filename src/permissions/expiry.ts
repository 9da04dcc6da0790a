/** Timers of Node hold no longer than this; a later time is waited for in steps. */
const maxDelayMs = 2 ** 31 - 1;

/** Calls back when the earliest of some points in time has come. Nothing is armed at first; it keeps no process alive. */
export function createExpiry(now: () => number, onTime: () => void) {
  let timer: NodeJS.Timeout | undefined;

  /** Replaces what was armed before. */
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
