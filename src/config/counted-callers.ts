/** How the ids of callers begin who showed no token: no key has such an id. */
export const anonymousPrefix = 'anonymous:';

/**
 * By what name a caller is counted wherever a bound is per caller. Every request without a token has an id of its own, so
 * those are counted together: else each of them would bring a share of its own.
 */
export function countedAs(callerId: string): string {
  return callerId.startsWith(anonymousPrefix) ? 'anonymous' : callerId;
}
