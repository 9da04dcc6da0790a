import { doorBudgets } from './budgets/door-budgets.ts';
import { engineBudgets } from './budgets/engine-budgets.ts';
import { keptBudgets } from './budgets/kept-budgets.ts';

/**
 * The one table of what a caller can hold. Whoever bounds something reads its numbers here or in the settings that a row
 * names; docs/limits.md is written from it by `npm run docs:limits`.
 */
export const budgets = { ...doorBudgets, ...engineBudgets, ...keptBudgets } as const;
