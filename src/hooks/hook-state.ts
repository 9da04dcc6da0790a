import type { HookState } from './hook-types.ts';

/** What decides where a hook stands. */
export interface HookFacts {
  /** Why it cannot be approved as it is. */
  readonly problem?: string | undefined;
  readonly contentHash: string;
  /** The hash that was approved, if one was. */
  readonly approvedHash?: string | undefined;
  /** Why what was approved cannot run. */
  readonly failure?: string | undefined;
}

/** Decides where a hook stands; only what is exactly what was approved ever runs. */
export function decideHookState({ problem, contentHash, approvedHash, failure }: HookFacts): HookState {
  if (problem !== undefined) return 'invalid';
  if (approvedHash === undefined) return 'new';
  if (approvedHash !== contentHash) return 'changed';
  return failure === undefined ? 'active' : 'failed';
}
