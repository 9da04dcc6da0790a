import type { BorderHost } from '../../border/border.ts';
import type { HotcellError } from '../../errors/hotcell-error.ts';
import type { GuestChannel } from './guest-channel.ts';
import type { GuestOutput } from './guest-output.ts';

/** What a process or container used, all its threads together. */
export interface GuestUsage {
  readonly cpuMs: number;
  /** Memory that cannot be given back: not the cache of files. */
  readonly rssBytes: number;
}

/** Why a guest ended by itself; empty when nothing but its end is known. */
export interface GuestExit {
  readonly isMemory?: true;
  readonly error?: HotcellError;
}

/** A process or a container in which the runner of guests waits for a plugin. */
export interface GuestProcess {
  readonly session: GuestChannel;
  readonly output: GuestOutput;
  readonly isAlive: () => boolean;
  /** Since it was ready; undefined where the system does not tell. */
  readonly usage: () => GuestUsage | undefined;
  /** Says what the runtime refused in words that help: the grant, and no folder of this machine. */
  readonly explainRefusals?: (text: string, plugin: string) => string;
  /** A call begins, which has this host. */
  readonly wake: (host: BorderHost) => void;
  /** No call runs in it from now on: nothing of a plugin may go on by itself. */
  readonly rest: () => void;
  readonly kill: () => void;
  /** Resolves, when its channel is gone, with what is known of the reason. */
  readonly explainEnd: () => Promise<GuestExit>;
  readonly exited: Promise<void>;
}

/** What was used since `base` was read. */
export function subtractUsage(now: GuestUsage | undefined, base: GuestUsage): GuestUsage | undefined {
  return now && { cpuMs: now.cpuMs - base.cpuMs, rssBytes: Math.max(0, now.rssBytes - base.rssBytes) };
}
