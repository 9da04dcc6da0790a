import type { GuestContainer } from './guest-container.ts';

/** One container in which Node runs and nothing else yet: whichever plugin comes next need not wait for it. */
export interface Spare {
  /** The spare one, or a new one. The next is started in the background. */
  take(): Promise<GuestContainer>;
  /** Starts one when there is none. Must not throw. */
  prepare(): void;
  /** Ends it. */
  drop(): void;
  close(): Promise<void>;
}

/** Makes a place for one; with `isKept` false there never is one. */
export function createSpare(start: () => Promise<GuestContainer>, isKept: boolean): Spare {
  let waiting: Promise<GuestContainer | undefined> | undefined;
  let isClosed = false;
  const prepare = (): void => {
    if (!isKept || isClosed) return;
    // One that could not be started is tried again by whoever needs it, and hears why.
    waiting ??= start().catch(() => undefined);
  };
  const end = async (): Promise<void> => {
    const dropped = waiting;
    waiting = undefined;
    const container = await dropped;
    container?.kill();
    await container?.exited;
  };
  return {
    async take() {
      const taken = waiting;
      waiting = undefined;
      const spare = await taken;
      const container = spare?.isAlive() ? spare : await start();
      prepare();
      return container;
    },
    prepare,
    drop: () => void end(),
    async close() {
      isClosed = true;
      await end();
    },
  };
}
