/** How long a call may take, waiting in the queue included: what the caller asked for can only shorten the limit. */
export function chooseTimeoutMs(requestedMs: number | undefined, limitMs: number): number {
  return requestedMs === undefined ? limitMs : Math.min(requestedMs, limitMs);
}

/** True when a requested time-out can be honoured: a positive, finite number of milliseconds. */
export function isTimeoutMs(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 1;
}

/** Waits for a promise that never rejects, but not longer than `ms`. */
export async function waitAtMost(promise: Promise<void>, ms: number): Promise<void> {
  const { promise: timeIsUp, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, ms));
  await Promise.race([promise, timeIsUp]);
  clearTimeout(timer);
}

/** Waits until a promise settles either way, but not longer than `ms`, nor after the signal. */
export async function waitForEnd(promise: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) return;
  const leave = () => resolve();
  signal.addEventListener('abort', leave, { once: true });
  const settled = promise.then(
    () => {},
    () => {},
  );
  await waitAtMost(Promise.race([settled, aborted]), ms);
  signal.removeEventListener('abort', leave);
}
