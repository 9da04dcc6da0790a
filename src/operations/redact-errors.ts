import { HotcellError } from '../errors/hotcell-error.ts';
import type { Redactor } from '../secrets/secret-types.ts';
import type { Operation } from './operation.ts';

/** The same operation, whose refusals hold no secret, whatever they quote. */
export function redactErrors(operation: Operation, redactor: Pick<Redactor, 'isIdle' | 'text' | 'value'>): Operation {
  const clean = (error: unknown): never => {
    throw redactError(error, redactor);
  };
  return {
    ...operation,
    handle(input, context) {
      try {
        const answer = operation.handle(input, context);
        return answer instanceof Promise ? answer.catch(clean) : answer;
      } catch (error) {
        return clean(error);
      }
    },
  };
}

/** Only what is meant for a client: other faults go into the log, which is cleaned itself. */
function redactError(error: unknown, redactor: Pick<Redactor, 'isIdle' | 'text' | 'value'>): unknown {
  if (redactor.isIdle || !(error instanceof HotcellError)) return error;
  const { code, message, fix, facts, cause } = error;
  const isClean = redactor.text(message) === message && redactor.text(fix) === fix && redactor.value(facts) === facts;
  if (isClean) return error;
  return new HotcellError(code, redactor.text(message), { fix: redactor.text(fix), facts: redactor.value(facts), cause });
}
