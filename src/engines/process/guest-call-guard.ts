import type { Limits } from '../../config/limits.ts';
import type { RunEnd } from '../run-end.ts';
import type { FileStop, Overrun, StopReason } from './guest-call-outcome.ts';
import type { GuestProcess } from './guest-process.ts';

/** How often a process is looked at, in ms: while a turn runs in it, and while none does. */
const lookMs = { busy: 40, idle: 1000 };
/** Garbage that is not collected yet, and what the runtime itself grows by. */
const spareBytes = 48 * 1024 * 1024;
/** What a process may use between two calls, in ms of processor time: collecting garbage, and no more. */
const idleCpuMs = 1000;

/**
 * Ends the process when its turn is over before it returned, passes a limit (only where the system tells), or loses the files that
 * it was started with.
 */
export function guardTurn(process: GuestProcess, limits: Limits, runEnd: RunEnd, files?: AbortSignal) {
  let stopped: StopReason | undefined;
  const stop = (reason: StopReason): void => {
    stopped ??= reason;
    process.kill();
  };
  const endEarly = (): void => stop(runEnd.reason() ?? 'cancelled');
  const takeFiles = (): void => {
    if (files) stop(reasonOf(files));
  };
  const startCpuMs = process.usage()?.cpuMs ?? 0;
  let spentMs = 0;
  const look = (): Overrun | undefined => {
    const now = process.usage();
    if (!now) return undefined;
    spentMs = Math.max(0, now.cpuMs - startCpuMs);
    if (spentMs > limits.cpuMs) return 'cpu';
    return now.rssBytes > limits.memoryBytes + spareBytes ? 'memory' : undefined;
  };
  const timer = setInterval(() => {
    const overrun = look();
    if (overrun === undefined) return;
    clearInterval(timer);
    stop(overrun);
  }, lookMs.busy);
  runEnd.signal.addEventListener('abort', endEarly, { once: true });
  files?.addEventListener('abort', takeFiles, { once: true });
  if (runEnd.signal.aborted) endEarly();
  return {
    /** Why the process was ended, when it was. */
    stopped: () => stopped,
    /** Ends the guard; returns the processor time of the turn, in ms. */
    close(): number {
      runEnd.signal.removeEventListener('abort', endEarly);
      files?.removeEventListener('abort', takeFiles);
      clearInterval(timer);
      look();
      return spentMs;
    },
  };
}

/** Why the files of a call were taken from it, as its signal says. */
function reasonOf(stop: AbortSignal): FileStop {
  return stop.reason === 'quota' || stop.reason === 'forbidden' ? stop.reason : 'revoked';
}

/**
 * A plugin whose process is kept may leave programs or timers behind that nobody waits for, and whose time no call counts:
 * `onOver` is called when they work on. What is returned says that it is idle from now on, or not any more.
 */
export function watchIdle(usage: GuestProcess['usage'], onOver: () => void): (isIdle: boolean) => void {
  let timer: NodeJS.Timeout | undefined;
  return (isIdle) => {
    clearInterval(timer);
    if (!isIdle) return;
    let startMs = usage()?.cpuMs;
    timer = setInterval(() => {
      const now = usage();
      if (now === undefined) return;
      startMs ??= now.cpuMs;
      if (now.cpuMs - startMs <= idleCpuMs) return;
      clearInterval(timer);
      onOver();
    }, lookMs.idle);
    timer.unref();
  };
}
