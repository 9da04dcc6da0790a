/** A point in time, as the clock of this machine shows it. */
export function formatTime(atMs: number): string {
  const date = new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000);
  return date.toISOString().replace('T', ' ').slice(0, 19);
}

/** A duration in the unit that suits it. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 10) return `${durationMs.toFixed(1)} ms`;
  return durationMs < 10_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
}
