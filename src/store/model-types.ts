/** What a caller may use a day, or has used. */
export interface ModelBudget {
  readonly tokens: number;
  /** Thousand-millionths of a dollar. */
  readonly costNanos: number;
}

/** Whose budget, and of which day (days since 1970, UTC). */
export interface ModelBudgetKey {
  readonly caller: string;
  readonly day: number;
}

/** One request to a model. */
export interface ModelUseRow extends ModelBudgetKey {
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

/** What uses are added up by. */
export type ModelUseGroup = 'key' | 'model' | 'tool' | 'day' | 'purpose';

/** Uses that have a key, model, tool or day together. */
export interface ModelUseSum {
  /** The id of the key, `provider/model`, the name of the tool, or the day as a number. */
  readonly name: string;
  readonly requests: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Requests whose tokens nobody knows. */
  readonly uncounted: number;
  /** Requests whose tokens are a guess, since the provider did not tell. */
  readonly estimated: number;
  readonly costNanos: number;
  /** Requests whose price nobody knows. */
  readonly unpriced: number;
  /** Of all requests together. */
  readonly latencyMs: number;
  readonly maxLatencyMs: number;
}

/** What models were used for, and what callers have used of their budgets. */
export interface ModelUseTable {
  /** Queued. */
  add(use: ModelUseRow): void;
  /** Most tokens first, of days the newest; with a caller only its own. */
  list(query: {
    readonly by: ModelUseGroup;
    readonly fromDay: number;
    readonly caller?: string;
    readonly limit: number;
  }): ModelUseSum[];
  /** Adds to what was used, at once; false, and nothing is added, when one of both would be more than the budget. */
  reserve(key: ModelBudgetKey, wanted: ModelBudget, budget: ModelBudget): boolean;
  /** Corrects a reservation by the difference to what was used. */
  settle(key: ModelBudgetKey, difference: ModelBudget): void;
  used(key: ModelBudgetKey): ModelBudget;
  /** Forgets earlier days. */
  prune(beforeDay: number): void;
}
