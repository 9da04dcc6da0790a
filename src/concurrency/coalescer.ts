/** Runs something once for all that asked for it in the meantime. */
export interface Coalescer {
  /** Asks for a run; costs next to nothing. */
  poke(): void;
  close(): void;
}

/**
 * Creates one: the first request runs at once, those that follow wait until the run is over and `gapMs()` have passed. `onQuiet` is
 * called when nobody asked in that time. `run` must not reject.
 */
export function createCoalescer(run: () => Promise<void>, gapMs: () => number, onQuiet = (): void => {}): Coalescer {
  let isWanted = false;
  let isBusy = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function go(): Promise<void> {
    isBusy = true;
    isWanted = false;
    await run();
    if (isClosed) return;
    timer = setTimeout(() => {
      isBusy = false;
      if (isWanted) void go();
      else onQuiet();
    }, gapMs());
  }

  return {
    poke() {
      isWanted = true;
      if (!isBusy && !isClosed) void go();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
