import type { ErrorCode } from '../../errors/catalog.ts';

/** What is known after an attempt failed. */
export interface FailedAttempt {
  readonly status: 'error' | 'timeout' | 'cancelled';
  readonly code: ErrorCode;
  /** Counts from 1. */
  readonly attempt: number;
  /** How many more attempts the tool asks for. */
  readonly retries: number;
  readonly isIdempotent: boolean;
  /** Until the call must be over. */
  readonly leftMs: number;
}

/** Whether to try again, and after how long; `reason` is for people. */
export type RetryDecision =
  | { readonly retry: true; readonly delayMs: number }
  | { readonly retry: false; readonly reason: string };

/** Failures that may have passed by the next attempt; the others would come back. */
const passingCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['handler-threw', 'engine-failed', 'network-failed']);

const firstDelayMs = 100;
const maxDelayMs = 5_000;
/** An attempt that starts this close to the deadline would only be cut off. */
const leastTimeMs = 10;

/** Decides about one more attempt: only for idempotent tools, only for passing failures, only within the deadline. */
export function decideRetry(failed: FailedAttempt): RetryDecision {
  if (failed.status !== 'error') return { retry: false, reason: `the call ended as ${failed.status}` };
  if (!failed.isIdempotent) return { retry: false, reason: 'the tool is not declared idempotent' };
  if (failed.attempt > failed.retries) return { retry: false, reason: 'there are no retries left' };
  if (!passingCodes.has(failed.code)) return { retry: false, reason: `${failed.code} would come back` };
  const delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** (failed.attempt - 1));
  if (delayMs + leastTimeMs > failed.leftMs) return { retry: false, reason: 'the deadline is too near' };
  return { retry: true, delayMs };
}
