import type { ModelFailure } from '../../conversation/answer.ts';

/** What follows a failure: the same provider again after a while, the next one, or the answer that it failed. */
export type AfterModelFailure =
  | { readonly do: 'again'; readonly afterMs: number }
  | { readonly do: 'next' }
  | { readonly do: 'stop' };

/** A client can wait as well as the daemon: what takes longer it is told. */
const maxWaitMs = 5_000;
const firstWaitMs = 200;

const mayPass = new Set<ModelFailure['kind']>(['rate-limited', 'overloaded', 'timeout', 'server-error']);
/** Of these the config has to be mended. */
const lasting = new Set(['upstream_key_refused', 'upstream_redirect']);
/** What is wrong with the request is wrong everywhere. */
const isOfRequest = new Set<ModelFailure['kind']>(['invalid-request', 'too-large', 'conflict']);

/** Decides. `failures` counts those of this provider, the last one included; `random` is from 0 to 1 and spreads the waits. */
export function decideAfterFailure(
  failure: ModelFailure,
  at: { readonly failures: number; readonly maxRetries: number; readonly hasNext: boolean; readonly random: number },
): AfterModelFailure {
  const { failures, maxRetries, hasNext, random } = at;
  if (isOfRequest.has(failure.kind)) return { do: 'stop' };
  const afterMs = failure.retryAfterMs ?? firstWaitMs * 2 ** (failures - 1) * (0.5 + random / 2);
  // A provider that said nothing until the time was over is not asked twice.
  const isLasting = failure.kind === 'timeout' || lasting.has(failure.code ?? '');
  const isWorthWaiting = mayPass.has(failure.kind) && !isLasting && failures <= maxRetries && afterMs <= maxWaitMs;
  if (isWorthWaiting) return { do: 'again', afterMs };
  return hasNext ? { do: 'next' } : { do: 'stop' };
}
