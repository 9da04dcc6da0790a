import type { ModelFailure } from '../../conversation/answer.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { kindOfStatus } from '../wire/failures.ts';

/** A refusal of the daemon itself, as providers fail. */
export function failureOfError(error: unknown): ModelFailure {
  if (!(error instanceof HotcellError)) throw error;
  const { status, message, fix, facts } = error;
  const code = typeof facts.code === 'string' ? facts.code : error.code;
  const param = typeof facts.param === 'string' ? { param: facts.param } : {};
  const retryAfterMs = typeof facts.retryAfterMs === 'number' ? { retryAfterMs: facts.retryAfterMs } : {};
  return {
    kind: kindOfStatus(status),
    status,
    code,
    message: `${message} ${fix}`,
    fix,
    ...param,
    ...retryAfterMs,
  };
}
