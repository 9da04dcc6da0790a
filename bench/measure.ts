/** One line of the report: a figure of Hotcell, what it must be, and the peer that it was measured against. */
export interface Row {
  readonly name: string;
  readonly unit: 'ms' | 'µs' | 'MB' | '%' | 'packages' | 'plugins' | 'requests/s' | 'pages';
  readonly p50: number;
  readonly p99?: number;
  /** The same work done by the peer, in the same run. */
  readonly peer?: { readonly name: string; readonly p50: number };
  /** p50 of the peer against ours, or ours against the peer's, as `ratioOf` says. */
  readonly ratio?: number;
  readonly ratioOf?: string;
  /** What the figure should be, in words. */
  readonly target: string;
  readonly met: boolean;
}

/** One group of figures, run in a process of its own. */
export interface Suite {
  readonly name: string;
  readonly run: () => Promise<Row[]>;
}

/** Median and 99th percentile of samples, in the unit of the samples. */
export function summarise(samples: readonly number[]): { p50: number; p99: number } {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Times `work` again and again, in ms a round. */
export async function timeRounds(rounds: number, work: (round: number) => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await work(round);
    samples.push(performance.now() - start);
  }
  return samples;
}
