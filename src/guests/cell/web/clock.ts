/** `performance`: milliseconds since the sandbox first asked, never backwards. */
let origin: number | undefined;
let latest = 0;

/** Milliseconds since `performance` was first used in this cell. */
export function readElapsed(): number {
  const now = Date.now();
  origin ??= now;
  latest = Math.max(latest, now - origin);
  return latest;
}

export const performance = {
  now: readElapsed,
  get timeOrigin(): number {
    readElapsed();
    return origin ?? 0;
  },
  toJSON: () => ({ timeOrigin: performance.timeOrigin }),
};
