import { describe, expect, it } from 'vitest';
import { decideRetry, type FailedAttempt } from '../../../src/calls/attempt/retry.ts';

const failed: FailedAttempt = {
  status: 'error',
  code: 'handler-threw',
  attempt: 1,
  retries: 3,
  isIdempotent: true,
  leftMs: 59_000,
};

describe('decideRetry', () => {
  it('backs off twice as long every time, up to five seconds', () => {
    const delays = [1, 2, 3, 8].map((attempt) => decideRetry({ ...failed, attempt, retries: 10 }));
    expect(delays.map((decision) => decision.retry && decision.delayMs)).toEqual([100, 200, 400, 5000]);
  });

  it.each<[string, Partial<FailedAttempt>]>([
    ['the tool is not declared idempotent', { isIdempotent: false }],
    ['there are no retries left', { attempt: 4 }],
    ['the call ended as cancelled', { status: 'cancelled', code: 'cancelled' }],
    ['the call ended as timeout', { status: 'timeout', code: 'time-exceeded' }],
    ['memory-exceeded would come back', { code: 'memory-exceeded' }],
    ['the deadline is too near', { leftMs: 100 }],
  ])('does not when %s', (reason, changed) => {
    expect(decideRetry({ ...failed, ...changed })).toEqual({ retry: false, reason });
  });
});
