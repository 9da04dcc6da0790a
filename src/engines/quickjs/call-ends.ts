import type { GuestError } from '../engine.ts';
import { MAX_OUTPUT_DEPTH, nestsDeeper } from '../json-nesting.ts';
import type { ActiveCall } from './active-call.ts';
import { memoryExceeded, toGuestError } from './guest-errors.ts';
import type { CallSliceResult } from './protocol.ts';
import { noteAbandoned } from './questions.ts';

/** How a call ended, before what it used is added. */
export type EndOfCall =
  | { readonly status: 'success'; readonly output: unknown; readonly outputJson: string }
  | { readonly status: 'error' | 'timeout' | 'cancelled'; readonly error: GuestError };

/** How a slice ended its call; undefined when the call waits. */
export function endOfSlice(call: ActiveCall, { end, abandoned }: CallSliceResult): EndOfCall | undefined {
  switch (end.kind) {
    case 'waiting':
      return undefined;
    case 'return':
      if (call.open.size > 0 || abandoned) noteAbandoned(call, abandoned ?? []);
      return readOutput(end.text);
    case 'throw':
      return { status: 'error', error: toGuestError(end.report, 'handler-threw') };
    case 'never-settles':
      return { status: 'timeout', error: neverSettles };
    case 'stopped':
      return end.reason === 'memory' ? endOverMemory(call) : { status: 'timeout', error: cpuExceeded(call) };
  }
}

/** Ended from outside. */
export const cancelled: GuestError = { code: 'cancelled', message: 'The call was cancelled.', frames: [] };

/** Nothing could ever settle what the handler returned. */
const neverSettles: GuestError = {
  code: 'handler-never-settles',
  message: 'The handler waits for a promise that nothing can settle any more: no host call and no timer is open.',
  frames: [],
};

/** Reads what a handler returned. The prelude made the text, but nothing that comes from a guest is believed. */
function readOutput(text: string): EndOfCall {
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
function endOverMemory(call: ActiveCall): EndOfCall {
  const message = memoryExceeded(call.request.limits.memoryBytes);
  return { status: 'error', error: { code: 'memory-exceeded', message, frames: [] } };
}

/** The call had its time on the wall's clock. */
export function wallExceeded(call: ActiveCall): GuestError {
  return { code: 'time-exceeded', message: `The call did not end within ${call.request.limits.wallMs} ms.`, frames: [] };
}
