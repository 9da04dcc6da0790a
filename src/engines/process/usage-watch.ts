import type { Limits } from '../../config/limits.ts';
import type { GuestProcess } from './guest-process.ts';

/** A limit that a process passed. */
export type Overrun = 'cpu' | 'memory';

/** How often a process is looked at, in ms. */
const lookMs = 40;
/** Garbage that is not collected yet, and what the runtime itself grows by. */
const spareBytes = 48 * 1024 * 1024;

/** A watch over one turn. */
export interface UsageWatch {
  /** Ends the watch; returns the processor time of the turn, in ms. */
  stop(): number;
}

/** Looks at a process while a turn runs in it; `onOver` is called once, when it passes a limit. Only where the system tells. */
export function watchUsage(
  process: Pick<GuestProcess, 'usage'>,
  limits: Pick<Limits, 'cpuMs' | 'memoryBytes'>,
  onOver: (overrun: Overrun) => void,
): UsageWatch {
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
    onOver(overrun);
  }, lookMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      return spentMs;
    },
  };
}
