import { dayOf } from '../capabilities/llm/token-budget.ts';
import { countedAs } from '../config/counted-callers.ts';
import { quotas } from '../config/quotas.ts';
import type { ModelPrice, ModelSettings } from '../config/settings/model-settings.ts';
import type { TokenUsage } from '../conversation/answer.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import type { ModelUseTable } from '../store/tables/model-uses.ts';
import { reserveOfKey } from './key-budget.ts';
import { costOf, estimateRequest, findPrice } from './prices.ts';
import type { AskedBy, UpstreamMeter, UpstreamTarget, UpstreamUse } from './upstream.ts';

/** What one model was used for since the start. */
export interface ModelTotals {
  /** Requests by how they ended. */
  readonly byStatus: { ok: number; failed: number };
  inputTokens: number;
  outputTokens: number;
  costNanos: number;
  /** Requests whose price or tokens nobody knows. */
  unpriced: number;
  /** Requests that took at most so long as the bucket of the same index says; longer ones count in none. */
  readonly buckets: number[];
  latencyMs: number;
}

/** Counts what models are used for, and keeps callers to their budgets. */
export interface ModelMeter extends UpstreamMeter {
  /** By `provider/model`, since the start. */
  totals(): ReadonlyMap<string, ModelTotals>;
}

/** Upper bounds of `ModelTotals.buckets`, in seconds. */
export const latencyBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120] as const;
/** What is counted under one name when a caller thinks up more: rows and metrics stay bounded. */
const otherModel = '(other)';
const maxModelsOfCaller = quotas['disk.modelUses'].each.max;
const maxModelsInAll = 500;
const keptDays = 90;

/** Creates the meter. */
export function createModelMeter(parts: {
  readonly settings: ModelSettings;
  readonly table: ModelUseTable;
  readonly now: () => number;
}): ModelMeter {
  const { settings, table, now } = parts;
  const totals = new Map<string, ModelTotals>();
  let today = 0;
  /** Of today. */
  const modelsByCaller = new Map<string, Set<string>>();

  function startDay(day: number): void {
    if (day === today) return;
    today = day;
    modelsByCaller.clear();
    table.prune(day - keptDays);
  }

  function boundModel(caller: string, { provider, model }: UpstreamTarget): string {
    const known = modelsByCaller.get(caller) ?? new Set<string>();
    modelsByCaller.set(caller, known);
    const name = `${provider}/${model}`;
    if (!known.has(name) && known.size >= maxModelsOfCaller) return otherModel;
    known.add(name);
    return model;
  }

  function count(
    by: Omit<AskedBy, 'signal'>,
    { target, usage, status, latencyMs }: UpstreamUse,
    { costNanos, isEstimated }: { readonly costNanos: number | undefined; readonly isEstimated: boolean },
  ) {
    const day = dayOf(now());
    startDay(day);
    const caller = countedAs(by.caller.id);
    const model = boundModel(caller, target);
    const hasFailed = status >= 400;
    table.add({
      day,
      caller,
      provider: target.provider,
      model,
      purpose: by.purpose,
      tool: by.tool ?? '',
      hasFailed,
      isEstimated,
      tokens: usage && {
        input: usage.inputTokens,
        output: usage.outputTokens,
        cacheRead: usage.cacheReadTokens ?? 0,
        cacheWrite: usage.cacheWriteTokens ?? 0,
      },
      costNanos,
      latencyMs: Math.round(latencyMs),
    });
    const name = `${target.provider}/${model}`;
    const total = totalsOf(totals.has(name) || totals.size < maxModelsInAll ? name : otherModel);
    total.byStatus[hasFailed ? 'failed' : 'ok']++;
    total.inputTokens += usage?.inputTokens ?? 0;
    total.outputTokens += usage?.outputTokens ?? 0;
    total.costNanos += costNanos ?? 0;
    total.unpriced += costNanos === undefined ? 1 : 0;
    total.latencyMs += latencyMs;
    const bucket = latencyBuckets.findIndex((bound) => latencyMs <= bound * 1000);
    if (bucket >= 0) total.buckets[bucket] = (total.buckets[bucket] ?? 0) + 1;
  }

  function totalsOf(name: string): ModelTotals {
    const known = totals.get(name);
    if (known !== undefined) return known;
    const none = { byStatus: { ok: 0, failed: 0 }, inputTokens: 0, outputTokens: 0, costNanos: 0, unpriced: 0, latencyMs: 0 };
    const fresh = { ...none, buckets: latencyBuckets.map(() => 0) };
    totals.set(name, fresh);
    return fresh;
  }

  return {
    reserve(read, target, by) {
      const price = findPrice(settings, target.provider, target.model);
      const { caller } = by;
      const hasBudget = caller.modelTokensPerDay !== undefined || caller.modelDollarsPerDay !== undefined;
      const request = hasBudget ? read() : undefined;
      const held =
        request === undefined
          ? undefined
          : reserveOfKey(
              {
                caller,
                inputTokens: estimateRequest(request),
                maxTokens: request.maxTokens,
                price,
                model: `${target.provider}/${target.model}`,
              },
              { table, now: now() },
            );
      let isSettled = false;
      return {
        ...(held !== undefined && request?.maxTokens === undefined ? { maxTokens: held.maxTokens } : {}),
        settle(use) {
          if (isSettled) return;
          isSettled = true;
          const told = boundUsage(use.usage ?? (use.isBilled ? undefined : noTokens));
          const usage = told ?? boundUsage(guessUsage(read, use));
          const costNanos = usage === undefined || (price === undefined && use.isBilled) ? undefined : boundCost(usage, price);
          // Of what nobody counted the budget has lost what was set aside: a guess may be too low.
          if (told !== undefined) held?.settle({ tokens: told.inputTokens + told.outputTokens, costNanos: costNanos ?? 0 });
          count(by, { ...use, usage }, { costNanos, isEstimated: told === undefined && usage !== undefined });
        },
      };
    },
    totals: () => totals,
  };
}

/** What a provider that does not count has used, roughly. */
function guessUsage(read: () => ConversationRequest, { answerTokens }: UpstreamUse): TokenUsage | undefined {
  if (answerTokens === undefined) return undefined;
  try {
    return { inputTokens: estimateRequest(read()), outputTokens: answerTokens };
  } catch {
    // A request that went on as it came may be one that only its provider understands.
    return undefined;
  }
}

const noTokens: TokenUsage = { inputTokens: 0, outputTokens: 0 };
const maxTokens = 1_000_000_000;
const maxCostNanos = 10_000_000_000_000;

/** What a server claims to have counted is kept within what can be added up. */
function boundUsage(usage: TokenUsage | undefined): TokenUsage | undefined {
  if (usage === undefined) return undefined;
  const bound = (count = 0) => (count > 0 ? Math.min(maxTokens, Math.round(count)) : 0);
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  return {
    inputTokens: bound(inputTokens),
    outputTokens: bound(outputTokens),
    cacheReadTokens: bound(cacheReadTokens),
    cacheWriteTokens: bound(cacheWriteTokens),
  };
}

function boundCost(usage: TokenUsage, price: ModelPrice | undefined): number {
  return price === undefined ? 0 : Math.min(maxCostNanos, costOf(price, usage));
}
