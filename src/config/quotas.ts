import { doorQuotas } from './quotas/door-quotas.ts';
import { engineQuotas } from './quotas/engine-quotas.ts';
import { keptQuotas } from './quotas/kept-quotas.ts';

/**
 * The one table of what a caller can hold. Whoever bounds something reads its numbers here or in the settings that a row
 * names; docs/limits.md is written from it by `npm run docs:limits`.
 */
export const quotas = { ...doorQuotas, ...engineQuotas, ...keptQuotas } as const;
