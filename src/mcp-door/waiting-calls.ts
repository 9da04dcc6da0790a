import type { Caller } from '../callers/caller.ts';
import { BoundedMap } from '../collections/bounded-map.ts';
import { quotas } from '../config/quotas.ts';

/** A caller that leaves more behind finds its newest ones alone. */
const maxPerCaller = quotas['mcp.waiting'].perCaller;

/**
 * Calls that wait for somebody whom their client cannot ask: the client is told whom to ask, and finds the call again by asking
 * for the same once more.
 */
export type WaitingCalls = ReturnType<typeof createWaitingCalls>;

/** Keeps them in memory: after a restart the same call is a new one, and its question is asked again. */
export function createWaitingCalls() {
  const byCaller = new Map<string, Map<string, string>>();
  return {
    keep({ id, isAnonymous }: Caller, request: string, executionId: string): void {
      // Nobody knows whether the next one without a token is the same.
      if (isAnonymous) return;
      const calls = byCaller.get(id) ?? new BoundedMap<string, string>(maxPerCaller);
      byCaller.set(id, calls);
      calls.set(request, executionId);
    },
    find: ({ id }: Caller, request: string): string | undefined => byCaller.get(id)?.get(request),
    forget({ id }: Caller, request: string): void {
      const calls = byCaller.get(id);
      if (calls?.delete(request) && calls.size === 0) byCaller.delete(id);
    },
  };
}
