import type { Caller } from '../callers/caller.ts';
import { dayOf, endOfDay } from '../capabilities/llm/token-budget.ts';
import { countedAs } from '../config/counted-callers.ts';
import type { ModelPrice } from '../config/settings/model-settings.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { ModelBudget, ModelUseTable } from '../store/tables/model-uses.ts';
import { costOf, nanosPerDollar } from './prices.ts';

/** What one request may take. */
export interface BudgetedRequest {
  readonly caller: Caller;
  readonly inputTokens: number;
  /** The bound of its answer; undefined when it names none. */
  readonly maxTokens: number | undefined;
  /** Undefined where nobody knows it. */
  readonly price: ModelPrice | undefined;
  /** `provider/model`. */
  readonly model: string;
}

/** What was set aside of a budget. */
export interface KeyReservation {
  readonly maxTokens: number;
  /** Puts what was used in the place of what was set aside. */
  settle(used: ModelBudget): void;
}

/** The answer of a request that names no bound gets this much of a budget, or what is left. */
const usualMaxTokens = 8192;
const noBound = Number.MAX_SAFE_INTEGER;

/** Sets a request aside in the budgets of its key; undefined when the key has none. Throws `model-budget-exceeded`. */
export function reserveOfKey(
  { caller, inputTokens, maxTokens, price, model }: BudgetedRequest,
  { table, now }: { readonly table: Pick<ModelUseTable, 'reserve' | 'settle' | 'used'>; readonly now: number },
): KeyReservation | undefined {
  const { modelTokensPerDay, modelDollarsPerDay } = caller;
  if (modelTokensPerDay === undefined && modelDollarsPerDay === undefined) return undefined;
  if (modelDollarsPerDay !== undefined && price === undefined) throw describeUnpriced(model);
  const key = { caller: countedAs(caller.id), day: dayOf(now) };
  const budget = {
    tokens: modelTokensPerDay ?? noBound,
    costNanos: modelDollarsPerDay === undefined ? noBound : Math.round(modelDollarsPerDay * nanosPerDollar),
  };
  const used = table.used(key);
  const left = { tokens: budget.tokens - used.tokens, costNanos: budget.costNanos - used.costNanos };
  const costFor = (answer: number) => (price === undefined ? 0 : costOf(dearest(price), { inputTokens, outputTokens: answer }));
  const bound = maxTokens ?? Math.max(1, Math.min(usualMaxTokens, affordable({ left, inputTokens, price })));
  const wanted = { tokens: inputTokens + bound, costNanos: costFor(bound) };
  if (!table.reserve(key, wanted, budget)) throw describeSpent({ caller, left, wanted, day: key.day });
  return {
    maxTokens: bound,
    settle: ({ tokens, costNanos }) =>
      table.settle(key, { tokens: tokens - wanted.tokens, costNanos: costNanos - wanted.costNanos }),
  };
}

/** Whether tokens come from a cache or are written to one is not known before. */
function dearest({ input, output, cacheWrite = input }: ModelPrice): ModelPrice {
  return { input: Math.max(input, cacheWrite), output };
}

/** How long an answer can be with what is left. */
function affordable({
  left,
  inputTokens,
  price,
}: Pick<BudgetedRequest, 'inputTokens' | 'price'> & { readonly left: ModelBudget }): number {
  const byTokens = left.tokens - inputTokens;
  if (price === undefined || price.output === 0) return byTokens;
  const nanosPerToken = price.output * 1000;
  return Math.min(
    byTokens,
    Math.floor((left.costNanos - costOf(dearest(price), { inputTokens, outputTokens: 0 })) / nanosPerToken),
  );
}

function describeSpent(facts: {
  readonly caller: Caller;
  readonly left: ModelBudget;
  readonly wanted: ModelBudget;
  readonly day: number;
}): HotcellError {
  const { caller, wanted, day } = facts;
  const { modelTokensPerDay: tokens, modelDollarsPerDay: dollars } = caller;
  const untilMs = endOfDay(day);
  const until = new Date(untilMs).toISOString();
  const isTokens = tokens !== undefined && facts.left.tokens < wanted.tokens;
  const showNanos = (nanos: number) => `$${(Math.max(0, nanos) / nanosPerDollar).toFixed(4)}`;
  const [all, left, asked] = isTokens
    ? [`${tokens} tokens`, `${Math.max(0, facts.left.tokens)}`, `${wanted.tokens}`]
    : [`$${dollars}`, showNanos(facts.left.costNanos), showNanos(wanted.costNanos)];
  const message = `This key may use ${all} of models a day; ${left} are left until ${until}, and this request may take ${asked}.`;
  const flag = isTokens
    ? `--tokens-per-day ${Math.max((tokens ?? 0) * 2, (tokens ?? 0) - facts.left.tokens + wanted.tokens)}`
    : `--dollars-per-day ${Math.max((dollars ?? 0) * 2, roundUp((dollars ?? 0) + (wanted.costNanos - facts.left.costNanos) / nanosPerDollar))}`;
  return new HotcellError('model-budget-exceeded', message, {
    fix: `Ask for less (a shorter prompt, max_tokens), wait, or have the operator raise it: hotcell key update ${caller.id} ${flag}`,
    facts: { left, until, retryAfterMs: Math.max(1000, untilMs - Date.now()) },
  });
}

/** To whole cents. */
function roundUp(money: number): number {
  return Math.ceil(money * 100) / 100;
}

function describeUnpriced(model: string): HotcellError {
  return new HotcellError(
    'model-budget-exceeded',
    `This key has a budget in dollars, and nobody knows the price of "${model}".`,
    {
      fix: `Use a model that has a price, or have the operator add models.prices to the config: "${model}": { input: 0, output: 0 }.`,
    },
  );
}
