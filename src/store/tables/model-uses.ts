import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../sqlite-error.ts';
import { column, defineTable, type RowOf } from '../table.ts';
import type { WriteQueue } from '../write-queue.ts';

const budgets = defineTable('model_budgets', {
  tokens: column.number('tokens'),
  /** Thousand-millionths of a dollar. */
  costNanos: column.number('cost_nanos'),
});

/** What a caller may use a day, or has used. */
export type ModelBudget = RowOf<typeof budgets>;

/** Whose budget, and of which day (days since 1970, UTC). */
interface ModelBudgetKey {
  readonly caller: string;
  readonly day: number;
}

/** One request to a model. */
interface ModelUseRow extends ModelBudgetKey {
  readonly provider: string;
  readonly model: string;
  readonly purpose: string;
  /** The tool that asked; empty for none. */
  readonly tool: string;
  readonly hasFailed: boolean;
  /** Undefined where the provider did not tell. */
  readonly tokens:
    | { readonly input: number; readonly output: number; readonly cacheRead: number; readonly cacheWrite: number }
    | undefined;
  /** The provider did not tell: the tokens are a guess of the daemon. */
  readonly isEstimated: boolean;
  /** Undefined where nobody knows the price. */
  readonly costNanos: number | undefined;
  readonly latencyMs: number;
}

/** Uses that have a key, model, tool or day together. */
const useSums = defineTable('model_uses', {
  /** The id of the key, `provider/model`, the name of the tool, or the day as a number. */
  name: column.text('name'),
  requests: column.number('requests'),
  failed: column.number('failed'),
  inputTokens: column.number('input_tokens'),
  outputTokens: column.number('output_tokens'),
  cacheReadTokens: column.number('cache_read_tokens'),
  cacheWriteTokens: column.number('cache_write_tokens'),
  /** Requests whose tokens nobody knows. */
  uncounted: column.number('uncounted'),
  /** Requests whose tokens are a guess, since the provider did not tell. */
  estimated: column.number('estimated'),
  costNanos: column.number('cost_nanos'),
  /** Requests whose price nobody knows. */
  unpriced: column.number('unpriced'),
  /** The time of all requests together. */
  latencyMs: column.number('latency_ms'),
  maxLatencyMs: column.number('max_latency_ms'),
});

const sums = `sum(requests) as requests, sum(failed) as failed, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
  sum(cache_read_tokens) as cache_read_tokens, sum(cache_write_tokens) as cache_write_tokens, sum(uncounted) as uncounted,
  sum(estimated) as estimated, sum(cost_nanos) as cost_nanos,
  sum(unpriced) as unpriced, sum(latency_ms) as latency_ms, max(max_latency_ms) as max_latency_ms`;
/** What uses are added up by. */
const groups = { key: 'caller', model: `provider || '/' || model`, tool: 'tool', day: 'day', purpose: 'purpose' } as const;

/** What models were used for, and what callers have used of their budgets. */
export type ModelUseTable = ReturnType<typeof createModelUseTable>;

/** Creates the table of what models were used for. Uses are queued; budgets are written at once, so that no crash gives one twice. */
export function createModelUseTable(database: DatabaseSync, queue: WriteQueue) {
  const add = database.prepare(
    `insert into model_uses (day, caller, provider, model, purpose, tool, requests, failed, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, uncounted, estimated, cost_nanos, unpriced, latency_ms, max_latency_ms)
     values (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (day, caller, provider, model, purpose, tool) do update set requests = requests + 1, failed = failed + excluded.failed,
       input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
       cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
       cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, uncounted = uncounted + excluded.uncounted,
       estimated = estimated + excluded.estimated, cost_nanos = cost_nanos + excluded.cost_nanos, unpriced = unpriced + excluded.unpriced,
       latency_ms = latency_ms + excluded.latency_ms, max_latency_ms = max(max_latency_ms, excluded.max_latency_ms)`,
  );
  // One statement checks both budgets and writes, so that nothing comes between.
  const reserve = database.prepare(
    `insert into model_budgets (caller, day, tokens, cost_nanos) select ?1, ?2, ?3, ?4
     where coalesce((select tokens from model_budgets where caller = ?1 and day = ?2), 0) + ?3 <= ?5
       and coalesce((select cost_nanos from model_budgets where caller = ?1 and day = ?2), 0) + ?4 <= ?6
     on conflict (caller, day) do update set tokens = tokens + excluded.tokens, cost_nanos = cost_nanos + excluded.cost_nanos`,
  );
  const settle = database.prepare(
    'update model_budgets set tokens = max(0, tokens + ?), cost_nanos = max(0, cost_nanos + ?) where caller = ? and day = ?',
  );
  const used = budgets.prepareSelect(database, 'where caller = ? and day = ?');
  const pruneUses = database.prepare('delete from model_uses where day < ?');
  const pruneBudgets = database.prepare('delete from model_budgets where day < ?');

  return {
    /** Queued. */
    add({
      day,
      caller,
      provider,
      model,
      purpose,
      tool,
      hasFailed,
      isEstimated,
      tokens,
      costNanos,
      latencyMs,
    }: ModelUseRow): void {
      const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = tokens ?? {};
      const key = [day, caller, provider, model, purpose, tool] as const;
      const counts = [Number(hasFailed), input, output, cacheRead, cacheWrite, Number(tokens === undefined)] as const;
      const money = [Number(isEstimated), costNanos ?? 0, Number(costNanos === undefined)] as const;
      queue.add({ apply: () => add.run(...key, ...counts, ...money, latencyMs, latencyMs) });
    },
    /** Most tokens first, of days the newest; with a caller only its own. */
    list({
      by,
      fromDay,
      caller,
      limit,
    }: {
      readonly by: keyof typeof groups;
      readonly fromDay: number;
      readonly caller?: string;
      readonly limit: number;
    }) {
      queue.flush();
      const order = by === 'day' ? 'day desc' : 'sum(input_tokens + output_tokens) desc, requests desc, name';
      const rows = database
        .prepare(
          `select cast(${groups[by]} as text) as name, ${sums} from model_uses where day >= ?1 and (?2 is null or caller = ?2)
           group by ${groups[by]} order by ${order} limit ?3`,
        )
        .all(fromDay, caller ?? null, limit);
      return rows.map(useSums.read);
    },
    /** Adds to what was used, at once; false, and nothing is added, when one of both would be more than the budget. */
    reserve: ({ caller, day }: ModelBudgetKey, wanted: ModelBudget, budget: ModelBudget): boolean =>
      writeNow(() => reserve.run(caller, day, wanted.tokens, wanted.costNanos, budget.tokens, budget.costNanos)).changes === 1,
    /** Corrects a reservation by the difference to what was used. */
    settle: ({ caller, day }: ModelBudgetKey, difference: ModelBudget): void =>
      void writeNow(() => settle.run(difference.tokens, difference.costNanos, caller, day)),
    used: ({ caller, day }: ModelBudgetKey): ModelBudget => used.first(caller, day) ?? { tokens: 0, costNanos: 0 },
    /** Forgets earlier days. */
    prune(beforeDay: number): void {
      queue.add({ apply: () => pruneUses.run(beforeDay) });
      queue.add({ apply: () => pruneBudgets.run(beforeDay) });
    },
  };
}
