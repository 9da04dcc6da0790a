import { latencyBuckets, type ModelTotals } from '../models/meter.ts';
import { nanosPerDollar } from '../models/prices.ts';
import { type Family, type Sample, toHistogram } from './metrics.ts';

/** What models were used for, as Prometheus reads it. */
export function describeModelTotals(totals: ReadonlyMap<string, ModelTotals>): readonly Family[] {
  const list = (describe: (total: ModelTotals, labels: { readonly model: string }) => readonly Sample[]) =>
    [...totals].flatMap(([model, total]) => describe(total, { model }));
  return [
    [
      'hotcell_model_requests_total',
      'counter',
      'Requests to models that ended.',
      list(({ byStatus }, labels) => Object.entries(byStatus).map(([status, count]) => [{ ...labels, status }, count])),
    ],
    [
      'hotcell_model_tokens_total',
      'counter',
      'Tokens that providers counted.',
      list(({ inputTokens, outputTokens }, labels) => [
        [{ ...labels, direction: 'in' }, inputTokens],
        [{ ...labels, direction: 'out' }, outputTokens],
      ]),
    ],
    [
      'hotcell_model_cost_dollars_total',
      'counter',
      'What requests with a known price cost.',
      list(({ costNanos }, labels) => [[labels, costNanos / nanosPerDollar]]),
    ],
    [
      'hotcell_model_unpriced_total',
      'counter',
      'Requests whose price nobody knows.',
      list(({ unpriced }, labels) => [[labels, unpriced]]),
    ],
    [
      'hotcell_model_duration_seconds',
      'histogram',
      'How long requests to models took.',
      list(({ buckets: counts, byStatus: { ok, failed }, latencyMs }, labels) =>
        toHistogram({ bounds: latencyBuckets, counts, sum: latencyMs / 1000, count: ok + failed }, labels),
      ),
    ],
  ];
}
