import type { Limits } from '../../config/limits.ts';
import type { RunEnd } from '../run-end.ts';
import type { GuestProcess } from './guest-process.ts';
import type { FileStop, StopReason } from './turn-outcome.ts';
import { watchUsage } from './usage-watch.ts';

/** What ends a process in the middle of a turn. */
export interface TurnGuard {
  /** Why the process was ended, when it was. */
  stopped(): StopReason | undefined;
  /** Ends the guard; returns the processor time of the turn, in ms. */
  close(): number;
}

/** Ends the process when its call is over before it returned, passes a limit, or loses the files that it was started with. */
export function guardTurn(process: GuestProcess, limits: Limits, callEnd: RunEnd, files?: AbortSignal): TurnGuard {
  let stopped: StopReason | undefined;
  const stop = (reason: StopReason): void => {
    stopped ??= reason;
    process.kill();
  };
  const endEarly = (): void => stop(callEnd.reason() ?? 'cancelled');
  const takeFiles = (): void => {
    if (files) stop(reasonOf(files));
  };
  const watch = watchUsage(process, limits, stop);
  callEnd.signal.addEventListener('abort', endEarly, { once: true });
  files?.addEventListener('abort', takeFiles, { once: true });
  if (callEnd.signal.aborted) endEarly();
  return {
    stopped: () => stopped,
    close() {
      callEnd.signal.removeEventListener('abort', endEarly);
      files?.removeEventListener('abort', takeFiles);
      return watch.stop();
    },
  };
}

/** Why the files of a call were taken from it, as its signal says. */
function reasonOf(stop: AbortSignal): FileStop {
  return stop.reason === 'quota' || stop.reason === 'forbidden' ? stop.reason : 'revoked';
}
