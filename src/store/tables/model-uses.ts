import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../column-values.ts';
import type { ModelUseTable } from '../model-types.ts';
import { writeNow } from '../sqlite-error.ts';
import type { WriteQueue } from '../write-queue.ts';

const sums = `sum(requests) as requests, sum(failed) as failed, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
  sum(cache_read_tokens) as cache_read_tokens, sum(cache_write_tokens) as cache_write_tokens, sum(uncounted) as uncounted,
  sum(estimated) as estimated, sum(cost_nanos) as cost_nanos,
  sum(unpriced) as unpriced, sum(latency_ms) as latency_ms, max(max_latency_ms) as max_latency_ms`;
const groups = { key: 'caller', model: `provider || '/' || model`, tool: 'tool', day: 'day', purpose: 'purpose' } as const;

/** Creates the table of what models were used for. Uses are queued; budgets are written at once, so that no crash gives one twice. */
export function createModelUseTable(database: DatabaseSync, queue: WriteQueue): ModelUseTable {
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
  const used = database.prepare('select tokens, cost_nanos from model_budgets where caller = ? and day = ?');
  const pruneUses = database.prepare('delete from model_uses where day < ?');
  const pruneBudgets = database.prepare('delete from model_budgets where day < ?');

  return {
    add({ day, caller, provider, model, purpose, tool, hasFailed, isEstimated, tokens, costNanos, latencyMs }) {
      const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = tokens ?? {};
      const key = [day, caller, provider, model, purpose, tool] as const;
      const counts = [Number(hasFailed), input, output, cacheRead, cacheWrite, Number(tokens === undefined)] as const;
      const money = [Number(isEstimated), costNanos ?? 0, Number(costNanos === undefined)] as const;
      queue.add({ apply: () => add.run(...key, ...counts, ...money, latencyMs, latencyMs) });
    },
    list({ by, fromDay, caller, limit }) {
      queue.flush();
      const order = by === 'day' ? 'day desc' : 'sum(input_tokens + output_tokens) desc, requests desc, name';
      const rows = database
        .prepare(
          `select cast(${groups[by]} as text) as name, ${sums} from model_uses where day >= ?1 and (?2 is null or caller = ?2)
           group by ${groups[by]} order by ${order} limit ?3`,
        )
        .all(fromDay, caller ?? null, limit);
      return rows.map((row) => ({
        name: readText(row, 'name'),
        requests: readNumber(row, 'requests'),
        failed: readNumber(row, 'failed'),
        inputTokens: readNumber(row, 'input_tokens'),
        outputTokens: readNumber(row, 'output_tokens'),
        cacheReadTokens: readNumber(row, 'cache_read_tokens'),
        cacheWriteTokens: readNumber(row, 'cache_write_tokens'),
        uncounted: readNumber(row, 'uncounted'),
        estimated: readNumber(row, 'estimated'),
        costNanos: readNumber(row, 'cost_nanos'),
        unpriced: readNumber(row, 'unpriced'),
        latencyMs: readNumber(row, 'latency_ms'),
        maxLatencyMs: readNumber(row, 'max_latency_ms'),
      }));
    },
    reserve: ({ caller, day }, wanted, budget) =>
      writeNow(() => reserve.run(caller, day, wanted.tokens, wanted.costNanos, budget.tokens, budget.costNanos)).changes === 1,
    settle: ({ caller, day }, difference) =>
      void writeNow(() => settle.run(difference.tokens, difference.costNanos, caller, day)),
    used({ caller, day }) {
      const row = used.get(caller, day);
      return row === undefined
        ? { tokens: 0, costNanos: 0 }
        : { tokens: readNumber(row, 'tokens'), costNanos: readNumber(row, 'cost_nanos') };
    },
    prune(beforeDay) {
      queue.add({ apply: () => pruneUses.run(beforeDay) });
      queue.add({ apply: () => pruneBudgets.run(beforeDay) });
    },
  };
}
