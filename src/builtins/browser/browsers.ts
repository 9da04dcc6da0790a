import type { CapabilityUser } from '../../border/capability-user.ts';
import { createPlaces, type Place } from '../../concurrency/engine-places.ts';
import { createTurns } from '../../concurrency/turns.ts';
import { quotas } from '../../config/quotas.ts';
import type { HostedCall } from '../../tools/hosted/hosted-types.ts';
import { type BrowserParts, type BrowserProcess, startBrowser } from './browser-process.ts';

/** A browser that nobody uses for so long is closed, though its call goes on: it may wait for a person for days. */
const idleMs = 120_000;

interface Kept {
  readonly browser: BrowserProcess;
  readonly place: Place;
  idle: NodeJS.Timeout | undefined;
}

/** The browsers that are open: one for an outermost call and all that it calls. */
export type Browsers = ReturnType<typeof createBrowsers>;

/** Opens browsers where they are asked for. */
export function createBrowsers(parts: BrowserParts) {
  const { perCaller, perPlugin, inAll, reserve } = quotas['browser.places'];
  const bounds = { perCaller, perPlugin, inAll, reserve };
  const places = createPlaces({ inside: bounds, aside: bounds, engine: 'browser' });
  const keptByCall = new Map<string, Kept>();
  const turns = createTurns();
  const closing = new Set<Promise<void>>();

  async function open({ user, signal }: Pick<HostedCall, 'user' | 'signal'>, outermost: string): Promise<Kept> {
    const found = keptByCall.get(outermost);
    if (found !== undefined && !found.browser.isGone) return found;
    if (found !== undefined) await drop(outermost);
    const { caller: callerId, unitPath, isAdmin = false } = user;
    const place = await places.enter({ callerId, unitPath, isAdmin }, signal);
    try {
      const kept: Kept = { browser: await startBrowser(parts, signal), place, idle: undefined };
      keptByCall.set(outermost, kept);
      return kept;
    } catch (error) {
      place.leave();
      throw error;
    }
  }

  async function drop(outermost: string): Promise<void> {
    const kept = keptByCall.get(outermost);
    if (kept === undefined) return;
    clearTimeout(kept.idle);
    keptByCall.delete(outermost);
    const closed = kept.browser.close().then(() => kept.place.leave());
    closing.add(closed);
    await closed;
    closing.delete(closed);
  }

  async function work<Result>(
    call: Pick<HostedCall, 'user' | 'signal'>,
    outermost: string,
    use: (browser: BrowserProcess) => Promise<Result>,
  ): Promise<Result> {
    call.signal.throwIfAborted();
    const kept = await open(call, outermost);
    clearTimeout(kept.idle);
    try {
      return await use(kept.browser);
    } finally {
      if (outermost === call.user.executionId || kept.browser.isGone) await drop(outermost);
      else kept.idle = setTimeout(() => void drop(outermost), idleMs).unref();
    }
  }

  return {
    /** Works with the browser of the call, one work after the other. Of a call that no other one made it is closed afterwards. */
    use<Result>(call: Pick<HostedCall, 'user' | 'signal'>, use: (browser: BrowserProcess) => Promise<Result>): Promise<Result> {
      const outermost = findOutermost(call.user);
      return turns.run(outermost, () => work(call, outermost, use));
    },
    /** Closes the browser of an outermost call that ended. */
    endCall: (executionId: string): void => void drop(executionId),
    async close(): Promise<void> {
      for (const outermost of [...keptByCall.keys()]) void drop(outermost);
      await Promise.all(closing);
    },
  };
}

function findOutermost({ above = [], executionId }: CapabilityUser): string {
  return above[0] ?? executionId;
}
