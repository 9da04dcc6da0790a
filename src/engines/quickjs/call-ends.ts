import type { GuestError } from '../engine.ts';
import { MAX_OUTPUT_DEPTH, nestsDeeper } from '../json-nesting.ts';
import type { ActiveCall } from './active-call.ts';
import { memoryExceeded } from './guest-errors.ts';

/** How a call ended, before what it used is added. */
export type EndOfCall =
  | { readonly status: 'success'; readonly output: unknown; readonly outputJson: string }
  | { readonly status: 'error' | 'timeout' | 'cancelled'; readonly error: GuestError };

/** Ended from outside. */
export const cancelled: GuestError = { code: 'cancelled', message: 'The call was cancelled.', frames: [] };

/** Nothing could ever settle what the handler returned. */
export const neverSettles: GuestError = {
  code: 'handler-never-settles',
  message: 'The handler waits for a promise that nothing can settle any more: no host call and no timer is open.',
  frames: [],
};

/** Reads what a handler returned. The prelude made the text, but nothing that comes from a guest is believed. */
export function readOutput(text: string): EndOfCall {
  if (nestsDeeper(text, MAX_OUTPUT_DEPTH)) {
    const message = `The output nests deeper than ${MAX_OUTPUT_DEPTH} levels.`;
    return { status: 'error', error: { code: 'output-invalid', message, frames: [] } };
  }
  try {
    return { status: 'success', output: JSON.parse(text), outputJson: text };
  } catch {
    return { status: 'error', error: { code: 'output-invalid', message: 'The output is not JSON.', frames: [] } };
  }
}

/** The call had its time on the processor. */
export function cpuExceeded(call: ActiveCall): GuestError {
  return {
    code: 'time-exceeded',
    message: `The call used more than its ${call.request.limits.cpuMs} ms of processor time.`,
    frames: [],
  };
}

/** The call passed its memory limit. */
export function endOverMemory(call: ActiveCall): EndOfCall {
  const message = memoryExceeded(call.request.limits.memoryBytes);
  return { status: 'error', error: { code: 'memory-exceeded', message, frames: [] } };
}

/** The call had its time on the wall's clock. */
export function wallExceeded(call: ActiveCall): GuestError {
  return { code: 'time-exceeded', message: `The call did not end within ${call.request.limits.wallMs} ms.`, frames: [] };
}
