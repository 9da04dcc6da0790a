import { countedAs } from '../../config/counted-callers.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { ModelUsageTable } from '../../store/tables/model-usage.ts';

/** Tokens that were set aside before a model was asked. */
export interface Reservation {
  /** Puts what was used in the place of what was set aside; undefined keeps that. Returns what is left of the budget. */
  settle(usedTokens: number | undefined): number;
}

interface TokenUse {
  readonly unitPath: string;
  readonly caller: string;
  readonly plugin: string;
  readonly tokens: number;
  readonly budget: number;
}

const dayMs = 86_400_000;
const keptDays = 90;

/** The day of a moment, as budgets count them: UTC. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / dayMs);
}

/** When the budgets of a day end, in epoch ms. */
export function endOfDay(day: number): number {
  return (day + 1) * dayMs;
}

/** The daily budgets of `context.llm`. */
export type TokenBudgets = ReturnType<typeof createTokenBudgets>;

/** Creates the budgets over their table. */
export function createTokenBudgets({ table, now }: { table: ModelUsageTable; now: () => number }) {
  let prunedOn = 0;
  return {
    /** Throws `quota-exceeded` when the budget has too little left; says how much, and until when. */
    reserve({ unitPath, caller, plugin, tokens, budget }: TokenUse): Reservation {
      const day = dayOf(now());
      if (day !== prunedOn) table.prune(day - keptDays);
      prunedOn = day;
      const key = { unitPath, caller: countedAs(caller), day };
      if (!table.reserve(key, tokens, budget))
        throw refuse({ plugin, tokens, budget, leftTokens: budget - table.used(key), day });
      return {
        settle(usedTokens) {
          if (usedTokens !== undefined && usedTokens !== tokens) table.settle(key, usedTokens - tokens);
          return Math.max(0, budget - table.used(key));
        },
      };
    },
  };
}

function refuse(facts: Omit<TokenUse, 'unitPath' | 'caller'> & { leftTokens: number; day: number }): HotcellError {
  const { plugin, tokens, budget, day } = facts;
  const left = Math.max(0, facts.leftTokens);
  const until = new Date(endOfDay(day)).toISOString();
  // Twice as much, and never less than this request needs.
  const enough = Math.max(budget * 2, budget - left + tokens);
  const message = `context.llm may use ${budget} tokens a day here; ${left} are left until ${until}, and this request may take ${tokens}.`;
  return new HotcellError('quota-exceeded', message, {
    fix: `Ask for less (prompt, maxTokens), wait, or grant more: hotcell grant ${plugin} llm=${enough}`,
    facts: { left, until },
  });
}
