import { maxOutputDepth, nestsDeeper } from '../../config/read/json-nesting.ts';
import type { GuestError, Isolation } from '../engine.ts';
import { memoryExceeded, toGuestError } from '../guest-errors.ts';
import type { CellCall } from './cell-call.ts';
import type { CallSliceResult } from './protocol.ts';
import { noteAbandonedQuestions } from './questions.ts';

/** How a call ended, before what it used is added. */
export type EndOfCall =
  | { readonly status: 'success'; readonly output: unknown; readonly outputJson: string }
  | { readonly status: 'error' | 'timeout' | 'cancelled'; readonly error: GuestError };

/** How a slice ended its call; undefined when the call waits. */
export function endOfSlice(call: CellCall, { end, abandoned }: CallSliceResult): EndOfCall | undefined {
  switch (end.kind) {
    case 'waiting':
      return undefined;
    case 'return':
      if (call.open.size > 0 || abandoned) noteAbandonedQuestions(call, abandoned ?? []);
      return readOutput(end.text);
    case 'throw':
      return { status: 'error', error: toGuestError(end.report, 'handler-threw') };
    case 'never-settles':
      return { status: 'timeout', error: neverSettles };
    case 'stopped':
      if (end.reason === 'memory') return endOverMemory(call);
      if (end.reason === 'no room') return { status: 'error', error: noRoom };
      return { status: 'timeout', error: cpuExceeded(call) };
  }
}

/** Why a slice lost the memory in which it ran. */
export function lossIn({ end, hasNoRoom }: CallSliceResult): string {
  if (hasNoRoom) return 'waiting calls and kept cells hold too much memory (waiting.maxMemoryBytes, waiting.maxStoredBytes)';
  if (end.kind !== 'stopped') return 'a call in it exhausted its memory or its stack';
  if (end.reason === 'memory') return 'a call in it used more memory than it may';
  return end.reason === 'cpu' ? 'a call in it used more time on the processor than it may' : 'a call in it was cut off';
}

/** What the next call hears. */
export function describeLoss(isolation: Isolation, reason: string): string {
  return `The state of this ${isolation} was lost, and the call begins with that of a plugin just loaded: ${reason}.`;
}

/** Ended from outside. */
export const cancelled: GuestError = { code: 'cancelled', message: 'The call was cancelled.', frames: [] };

/** Nothing could ever settle what the handler returned. */
const neverSettles: GuestError = {
  code: 'handler-never-settles',
  message: 'The handler waits for a promise that nothing can settle any more: no host call and no timer is open.',
  frames: [],
};

/** The call would wait with more memory than there is room for. */
const noRoom: GuestError = {
  code: 'waiting-memory-exceeded',
  message:
    'The call began to wait, and the calls of this caller, or all together, hold more memory while they wait than the daemon keeps for them.',
  frames: [],
};

/** Reads what a handler returned. The prelude made the text, but nothing that comes from a guest is believed. */
function readOutput(text: string): EndOfCall {
  if (nestsDeeper(text, maxOutputDepth)) {
    const message = `The output nests deeper than ${maxOutputDepth} levels.`;
    return { status: 'error', error: { code: 'output-invalid', message, frames: [] } };
  }
  try {
    return { status: 'success', output: JSON.parse(text), outputJson: text };
  } catch {
    return { status: 'error', error: { code: 'output-invalid', message: 'The output is not JSON.', frames: [] } };
  }
}

/** The call had its time on the processor. */
export function cpuExceeded(call: CellCall): GuestError {
  return {
    code: 'time-exceeded',
    message: `The call used more than its ${call.request.limits.cpuMs} ms of processor time.`,
    frames: [],
  };
}

/** The call passed its memory limit. */
function endOverMemory(call: CellCall): EndOfCall {
  const message = memoryExceeded(call.request.limits.memoryBytes);
  return { status: 'error', error: { code: 'memory-exceeded', message, frames: [] } };
}

/** The call had its time on the wall's clock. */
export function wallExceeded(call: CellCall): GuestError {
  return { code: 'time-exceeded', message: `The call did not end within ${call.request.limits.wallMs} ms.`, frames: [] };
}
