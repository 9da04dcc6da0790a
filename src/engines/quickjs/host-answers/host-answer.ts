import { HostRefusal } from './host-refusal.ts';
import type { Shape } from './shape.ts';

/** What one answer gives: text (JSON where the operation says so), bytes, or nothing for "not valid". */
export type HostAnswer = string | Uint8Array | undefined;

/** Answers one synchronous operation. Must not run long; throws HostRefusal and nothing else on purpose. */
export type AnswerNow = (payload: string, body: Uint8Array, op: string) => HostAnswer;

/** No text of a request is longer: a cell could not hold the answer beside it. */
const maxPayloadChars = 64 * 1024 * 1024;

/** Answers an operation whose request is JSON of this shape. */
export function asks<Value>(shape: Shape<Value>, answer: (request: Value, body: Uint8Array) => HostAnswer): AnswerNow {
  return (payload, body, op) => {
    if (payload.length > maxPayloadChars) {
      throw new HostRefusal('payload-too-large', `${op} takes ${maxPayloadChars} characters at most, got ${payload.length}.`);
    }
    const request = parseJson(payload, op);
    if (!shape.fits(request)) throw new HostRefusal('arguments-invalid', `${op} got a request of another shape than it takes.`);
    return answer(request, body);
  };
}

function parseJson(payload: string, op: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    throw new HostRefusal('arguments-invalid', `${op} expects JSON text.`);
  }
}

/** Nothing where the platform throws: what was asked for is not valid. */
export function orNothing(make: () => HostAnswer): HostAnswer {
  try {
    return make();
  } catch {
    return undefined;
  }
}
