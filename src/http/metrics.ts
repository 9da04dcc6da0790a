import type { EventLog } from '../events/event.ts';

/** Lines that belong together. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly lines: readonly string[];
}

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

  return {
    render(gauges) {
      const memory = process.memoryUsage.rss();
      let cumulative = 0;
      const bucketLines = buckets.map((bound, index) => {
        cumulative += durations.counts[index] ?? 0;
        return `hotcell_call_duration_seconds_bucket{le="${bound}"} ${cumulative}`;
      });
      return [
        ...family('hotcell_info', 'gauge', 'The running version.', [`hotcell_info{version=${quoteLabel(gauges.version)}} 1`]),
        ...family('hotcell_uptime_seconds', 'gauge', 'Time since the start.', [
          `hotcell_uptime_seconds ${gauges.uptimeMs / 1000}`,
        ]),
        ...family(
          'hotcell_plugins',
          'gauge',
          'Plugins in each state.',
          Object.entries(gauges.plugins).map(([state, count]) => `hotcell_plugins{state=${quoteLabel(state)}} ${count}`),
        ),
        ...family('hotcell_tools', 'gauge', 'Tools that can be called.', [`hotcell_tools ${gauges.tools}`]),
        ...family('hotcell_calls_pending', 'gauge', 'Calls that wait.', [`hotcell_calls_pending ${gauges.calls.pending}`]),
        ...family('hotcell_calls_running', 'gauge', 'Calls that run.', [`hotcell_calls_running ${gauges.calls.running}`]),
        ...family(
          'hotcell_calls_total',
          'counter',
          'Calls that ended, by tool and status.',
          [...callsByTool].flatMap(([tool, byStatus]) =>
            [...byStatus].map(
              ([status, count]) => `hotcell_calls_total{tool=${quoteLabel(tool)},status=${quoteLabel(status)}} ${count}`,
            ),
          ),
        ),
        ...family('hotcell_call_duration_seconds', 'histogram', 'How long calls took.', [
          ...bucketLines,
          `hotcell_call_duration_seconds_bucket{le="+Inf"} ${durations.count}`,
          `hotcell_call_duration_seconds_sum ${durations.sum}`,
          `hotcell_call_duration_seconds_count ${durations.count}`,
        ]),
        ...family('hotcell_reloads_total', 'counter', 'Reloads by result.', [
          `hotcell_reloads_total{result="ready"} ${reloads.ready}`,
          `hotcell_reloads_total{result="failed"} ${reloads.failed}`,
        ]),
        ...readFamilies().flatMap(({ name, type, help, lines }) => family(name, type, help, lines)),
        ...family(
          'hotcell_repairs_total',
          'counter',
          'Repairs that came to rest, by state.',
          [...repairsByState].map(([state, count]) => `hotcell_repairs_total{state=${quoteLabel(state)}} ${count}`),
        ),
        ...family(
          'hotcell_repair_attempts_total',
          'counter',
          'Changes that repairs tried, by what the trial said.',
          [...attemptsByOutcome].map(
            ([outcome, count]) => `hotcell_repair_attempts_total{outcome=${quoteLabel(outcome)}} ${count}`,
          ),
        ),
        ...repairLines(gauges.repairs),
        ...family('process_resident_memory_bytes', 'gauge', 'Resident memory.', [`process_resident_memory_bytes ${memory}`]),
        '',
      ].join('\n');
    },
    close: unsubscribe,
  };
}

function countOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function repairLines(repairs: MetricGauges['repairs']): string[] {
  if (repairs === undefined) return [];
  const { running, waiting, proposed, refused, tokens, cost } = repairs;
  return [
    ...family('hotcell_repairs', 'gauge', 'Repairs at work, waiting for their turn, and proposals that wait for a person.', [
      `hotcell_repairs{state="running"} ${running}`,
      `hotcell_repairs{state="waiting"} ${waiting}`,
      `hotcell_repairs{state="proposed"} ${proposed}`,
    ]),
    ...family(
      'hotcell_repairs_refused_total',
      'counter',
      'Failures that started no repair, by what kept it from starting.',
      Object.entries(refused).map(([brake, count]) => `hotcell_repairs_refused_total{brake=${quoteLabel(brake)}} ${count}`),
    ),
    ...family('hotcell_repair_tokens_day', 'gauge', 'Tokens of models that repairs used in the last day.', [
      `hotcell_repair_tokens_day ${tokens}`,
    ]),
    ...family('hotcell_repair_cost_day', 'gauge', 'What models for repairs cost in the last day.', [
      `hotcell_repair_cost_day ${cost}`,
    ]),
  ];
}

function family(name: string, type: string, help: string, lines: readonly string[]): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

/** A value as a label has it. */
export function quoteLabel(value: string): string {
  return `"${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;
}
