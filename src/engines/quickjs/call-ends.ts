import type { Isolation } from '../engine.ts';
import { toGuestError } from '../guest-errors.ts';
import { describeStop, failRun, noteAbandoned, type RunEnding, readReturned } from '../run-outcome.ts';
import type { CellCall } from './cell-call.ts';
import type { CallSliceResult } from './protocol.ts';

/** How a slice ended its call; undefined when the call waits. */
export function endOfSlice(call: CellCall, { end, abandoned }: CallSliceResult): RunEnding | undefined {
  switch (end.kind) {
    case 'waiting':
      return undefined;
    case 'return':
      if (call.open.size > 0 || abandoned) noteUnawaited(call, abandoned);
      return readReturned(end.text);
    case 'throw':
      return { status: 'error', error: toGuestError(end.report, 'handler-threw') };
    case 'never-settles':
      return failRun(
        'handler-never-settles',
        'The handler waits for a promise that nothing can settle any more: no host call and no timer is open.',
        'timeout',
      );
    case 'stopped':
      if (end.reason === 'no room') {
        return failRun(
          'waiting-memory-exceeded',
          'The call began to wait, and the calls of this caller, or all together, hold more memory while they wait than the daemon keeps for them.',
        );
      }
      return describeStop(end.reason === 'memory' ? 'memory' : 'cpu', call.request.limits);
  }
}

/** Timers and clean-up need not be awaited. */
function noteUnawaited({ open, host }: CellCall, unsent: CallSliceResult['abandoned'] = []): void {
  const operations = [...open.values(), ...unsent].map(({ op }) => op);
  noteAbandoned(
    host,
    operations.filter((op) => op !== 'timer' && op !== 'fetch.cancel'),
  );
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
