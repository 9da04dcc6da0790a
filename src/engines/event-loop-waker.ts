/** How long the event loop stays awake for an answer, in ms: longer than a short call takes. */
const AWAKE_MS = 0.25;
/** So many short calls one at a time, and a further one is worth it. */
const MANY_SINGLES = 4;

/** What a loop that stays awake does about answers that nothing announces. */
export interface AwakeLoop {
  /** True while an answer is still to come. */
  readonly isAwaited: () => boolean;
  /** It stays awake from now on. */
  readonly begin?: () => void;
  /** Takes the answers that are there. */
  readonly look?: () => void;
  /** It goes to sleep: answers must be announced again. */
  readonly end?: () => void;
}

/**
 * Where single short calls follow each other the event loop stays awake for their answers, since being woken takes longer
 * than most calls. Everything else that is ready has its turn in between.
 */
export function createLoopWaker({ isAwaited, begin, look, end }: AwakeLoop) {
  let singles = 0;
  let until = 0;
  let isTurning = false;
  const turn = (): void => {
    look?.();
    isTurning = singles > 0 && isAwaited() && performance.now() < until;
    if (isTurning) setImmediate(turn);
    else end?.();
  };
  return {
    /** Work was given to a thread; `isSingle` when it is one short call and nothing else waits. */
    note(isSingle: boolean): void {
      singles = isSingle ? singles + 1 : 0;
      if (singles < MANY_SINGLES) return;
      until = performance.now() + AWAKE_MS;
      if (isTurning) return;
      isTurning = true;
      begin?.();
      setImmediate(turn);
    },
  };
}
