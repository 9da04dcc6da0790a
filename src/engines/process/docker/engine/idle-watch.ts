import type { UsageMeter } from '../container/usage-meter.ts';

/** Watches a container while nothing is asked of it. */
export interface IdleWatch {
  /** True from now on, or not any more: a call begins. */
  setIdle(isIdle: boolean): void;
}

/** How often an idle container is looked at, in ms. */
const lookMs = 1000;
/** What one may use between two calls, in ms of processor time: collecting garbage, and no more. */
const idleCpuMs = 1000;

/**
 * A plugin whose container is kept may leave programs or timers behind that nobody waits for, and whose time no call counts:
 * `onOver` is called when they work on.
 */
export function watchIdle(usage: UsageMeter, onOver: () => void): IdleWatch {
  let timer: NodeJS.Timeout | undefined;
  return {
    setIdle(isIdle) {
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
      }, lookMs);
      timer.unref();
    },
  };
}
