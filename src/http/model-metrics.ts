import { latencyBuckets, type ModelTotals } from '../models/meter.ts';
import { nanosPerDollar } from '../models/prices.ts';
import { type Family, quoteLabel } from './metrics.ts';

/** What models were used for, as Prometheus reads it. */
export function describeModelTotals(totals: ReadonlyMap<string, ModelTotals>): readonly Family[] {
  const all = [...totals].map(([name, total]) => ({ label: `model=${quoteLabel(name)}`, total }));
  const lines = (write: (label: string, total: ModelTotals) => readonly string[]) =>
    all.flatMap(({ label, total }) => write(label, total));
  return [
    {
      name: 'hotcell_model_requests_total',
      type: 'counter',
      help: 'Requests to models that ended.',
      lines: lines((label, { byStatus }) =>
        Object.entries(byStatus).map(([status, count]) => `hotcell_model_requests_total{${label},status="${status}"} ${count}`),
      ),
    },
    {
      name: 'hotcell_model_tokens_total',
      type: 'counter',
      help: 'Tokens that providers counted.',
      lines: lines((label, { inputTokens, outputTokens }) => [
        `hotcell_model_tokens_total{${label},direction="in"} ${inputTokens}`,
        `hotcell_model_tokens_total{${label},direction="out"} ${outputTokens}`,
      ]),
    },
    {
      name: 'hotcell_model_cost_dollars_total',
      type: 'counter',
      help: 'What requests with a known price cost.',
      lines: lines((label, { costNanos }) => [`hotcell_model_cost_dollars_total{${label}} ${costNanos / nanosPerDollar}`]),
    },
    {
      name: 'hotcell_model_unpriced_total',
      type: 'counter',
      help: 'Requests whose price nobody knows.',
      lines: lines((label, { unpriced }) => [`hotcell_model_unpriced_total{${label}} ${unpriced}`]),
    },
    {
      name: 'hotcell_model_duration_seconds',
      type: 'histogram',
      help: 'How long requests to models took.',
      lines: lines((label, { buckets, byStatus, latencyMs }) => {
        let sum = 0;
        const count = byStatus.ok + byStatus.failed;
        const counted = latencyBuckets.map((bound, index) => {
          sum += buckets[index] ?? 0;
          return `hotcell_model_duration_seconds_bucket{${label},le="${bound}"} ${sum}`;
        });
        return [
          ...counted,
          `hotcell_model_duration_seconds_bucket{${label},le="+Inf"} ${count}`,
          `hotcell_model_duration_seconds_sum{${label}} ${latencyMs / 1000}`,
          `hotcell_model_duration_seconds_count{${label}} ${count}`,
        ];
      }),
    },
  ];
}
