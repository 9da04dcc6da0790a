import type { DaemonProcess } from './daemon-process.ts';

/** What became of a row of calls of the neighbour. */
export interface NeighbourLoad {
  readonly latenciesMs: readonly number[];
  /** What was answered where the right answer was expected. */
  readonly failures: readonly unknown[];
}

/** Calls the neighbour again and again, one call after the other. */
export async function callNeighbour(daemon: DaemonProcess, calls: number): Promise<NeighbourLoad> {
  const latenciesMs: number[] = [];
  const failures: unknown[] = [];
  for (let n = 0; n < calls; n++) {
    const startedAt = performance.now();
    try {
      const answer = await daemon.call('neighbour', { n });
      if (answer.status !== 'success' || JSON.stringify(answer.output) !== JSON.stringify({ n: n + 1 })) failures.push(answer);
    } catch (error) {
      failures.push(error);
    }
    latenciesMs.push(performance.now() - startedAt);
  }
  return { latenciesMs, failures };
}

/** The 99th percentile. */
export function p99(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

/** How the latency under attack compares with that at rest. */
export function describeLatency(idle: readonly number[], disturbed: readonly number[]): string {
  const [quiet, loud] = [p99(idle), p99(disturbed)];
  return `p99 ${quiet.toFixed(2)} ms idle, ${loud.toFixed(2)} ms under attack (x${(loud / quiet).toFixed(2)})`;
}

/** Reads until the value is at most `limit` or the time is over; returns the last reading. */
export async function waitUntilWithin(read: () => number, limit: number, withinMs: number): Promise<number> {
  const deadline = performance.now() + withinMs;
  let value = read();
  while (value > limit && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    value = read();
  }
  return value;
}
