import type { EventLog } from '../events/event.ts';
import { latencyBuckets, type ModelTotals } from '../models/meter.ts';
import { nanosPerDollar } from '../models/prices.ts';

/** One value: of which labels, and what stands after the name of the metric. */
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number, suffix?: '_bucket' | '_sum' | '_count'];

/** A metric with all its values. */
export type Family = readonly [name: string, type: 'counter' | 'gauge' | 'histogram', help: string, samples: readonly Sample[]];

/** Counts what happens for GET /metrics. */
export interface Metrics {
  /** The text that Prometheus reads, with the gauges as of now. */
  render(gauges: MetricGauges): string;
  close(): void;
}

/** What is read at the moment that somebody asks. */
export interface MetricGauges {
  readonly version: string;
  readonly uptimeMs: number;
  readonly plugins: Readonly<Record<string, number>>;
  readonly tools: number;
  readonly calls: { readonly pending: number; readonly running: number };
  readonly repairs?: {
    readonly running: number;
    readonly waiting: number;
    readonly proposed: number;
    readonly refused: Readonly<Record<string, number>>;
    readonly tokens: number;
    readonly cost: number;
  };
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
// Tool names come from plugins: beyond this many they share one label, so that memory stays bounded.
const maxCountedTools = 1000;

/** Listens to the ends of calls and to reloads. */
export function createMetrics(events: EventLog, readFamilies: () => readonly Family[]): Metrics {
  /** How many calls of a tool ended in each status; words are made of it when somebody reads it. */
  const callsByTool = new Map<string, Map<string, number>>();
  const durations = { counts: buckets.map(() => 0), sum: 0, count: 0 };
  const reloads = { ready: 0, failed: 0 };
  /** How many repairs came to rest in each state. */
  const repairsByState = new Map<string, number>();

  /** How many changes that repairs tried came out in each way. */
  const attemptsByOutcome = new Map<string, number>();

  const unsubscribe = events.subscribe({ types: ['execution-end', 'plugin-change', 'repair-update', 'repair-end'] }, (event) => {
    if (event.type === 'execution-end') countCall(event.data);
    if (event.type === 'repair-update') countOne(attemptsByOutcome, event.data.outcome);
    if (event.type === 'repair-end') countOne(repairsByState, event.data.state);
    if (event.type === 'plugin-change' && event.data.generation !== undefined && event.data.state === 'ready') reloads.ready++;
    if (event.type === 'plugin-change' && ['failed', 'degraded'].includes(event.data.state)) reloads.failed++;
  });

  function countCall({ tool, status, durationMs }: { tool: string; status: string; durationMs: number }): void {
    const counted = callsByTool.has(tool) || callsByTool.size < maxCountedTools ? tool : '(other)';
    const byStatus = callsByTool.get(counted) ?? new Map<string, number>();
    callsByTool.set(counted, byStatus);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    const seconds = durationMs / 1000;
    durations.sum += seconds;
    durations.count++;
    const bucket = buckets.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
  }

  function listFamilies({ version, uptimeMs, plugins, tools, calls, repairs }: MetricGauges): readonly Family[] {
    return [
      ['hotcell_info', 'gauge', 'The running version.', [[{ version }, 1]]],
      ['hotcell_uptime_seconds', 'gauge', 'Time since the start.', only(uptimeMs / 1000)],
      ['hotcell_plugins', 'gauge', 'Plugins in each state.', countedBy('state', Object.entries(plugins))],
      ['hotcell_tools', 'gauge', 'Tools that can be called.', only(tools)],
      ['hotcell_calls_pending', 'gauge', 'Calls that wait.', only(calls.pending)],
      ['hotcell_calls_running', 'gauge', 'Calls that run.', only(calls.running)],
      [
        'hotcell_calls_total',
        'counter',
        'Calls that ended, by tool and status.',
        [...callsByTool].flatMap(([tool, byStatus]) => [...byStatus].map(([status, count]): Sample => [{ tool, status }, count])),
      ],
      ['hotcell_call_duration_seconds', 'histogram', 'How long calls took.', toHistogram({ ...durations, bounds: buckets })],
      ['hotcell_reloads_total', 'counter', 'Reloads by result.', countedBy('result', Object.entries(reloads))],
      ...readFamilies(),
      ['hotcell_repairs_total', 'counter', 'Repairs that came to rest, by state.', countedBy('state', repairsByState)],
      [
        'hotcell_repair_attempts_total',
        'counter',
        'Changes that repairs tried, by what the trial said.',
        countedBy('outcome', attemptsByOutcome),
      ],
      ...(repairs === undefined ? [] : describeRepairs(repairs)),
      ['process_resident_memory_bytes', 'gauge', 'Resident memory.', only(process.memoryUsage.rss())],
    ];
  }

  return {
    render: (gauges) => [...listFamilies(gauges).flatMap(writeFamily), ''].join('\n'),
    close: unsubscribe,
  };
}

function countOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function describeRepairs({ refused, tokens, cost, ...byState }: NonNullable<MetricGauges['repairs']>): readonly Family[] {
  const { running, waiting, proposed } = byState;
  return [
    [
      'hotcell_repairs',
      'gauge',
      'Repairs at work, waiting for their turn, and proposals that wait for a person.',
      countedBy('state', Object.entries({ running, waiting, proposed })),
    ],
    [
      'hotcell_repairs_refused_total',
      'counter',
      'Failures that started no repair, by what kept it from starting.',
      countedBy('brake', Object.entries(refused)),
    ],
    ['hotcell_repair_tokens_day', 'gauge', 'Tokens of models that repairs used in the last day.', only(tokens)],
    ['hotcell_repair_cost_day', 'gauge', 'What models for repairs cost in the last day.', only(cost)],
  ];
}

function only(value: number): readonly Sample[] {
  return [[{}, value]];
}

function countedBy(label: string, counts: Iterable<readonly [string, number]>): Sample[] {
  return Array.from(counts, ([key, count]) => [{ [label]: key }, count]);
}

/** How many stayed within each bound, all in all, and their sum. */
function toHistogram(
  {
    bounds,
    counts,
    sum,
    count,
  }: {
    readonly bounds: readonly number[];
    /** Of each bound those that were above the one before. */
    readonly counts: readonly number[];
    readonly sum: number;
    readonly count: number;
  },
  labels: Sample[0] = {},
): Sample[] {
  let within = 0;
  const counted = bounds.map((bound, index): Sample => {
    within += counts[index] ?? 0;
    return [{ ...labels, le: String(bound) }, within, '_bucket'];
  });
  return [...counted, [{ ...labels, le: '+Inf' }, count, '_bucket'], [labels, sum, '_sum'], [labels, count, '_count']];
}

function writeFamily([name, type, help, samples]: Family): string[] {
  const lines = samples.map(([labels, value, suffix = '']) => {
    const said = Object.entries(labels).map(([label, text]) => `${label}=${quoteLabel(text)}`);
    return `${name}${suffix}${said.length === 0 ? '' : `{${said.join(',')}}`} ${value}`;
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

/** A value as a label has it. */
function quoteLabel(value: string): string {
  return `"${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;
}

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
