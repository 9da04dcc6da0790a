import type { Store } from '../../store/store-types.ts';
import type { ActiveCall } from '../active-call.ts';
import type { StageParts } from '../call-parts.ts';
import { engineOf } from '../runner.ts';
import { describeParked } from './parked-facts.ts';

/** What a call that asked a person keeps in mind. */
class Wait {
  /** Questions to people without an answer, its own and those of calls below it. */
  questions = 0;
  /** Lets go of the calls above, for each of its own questions. */
  readonly releases: Array<() => void> = [];
  /** Rises with every effect: a picture of the call from before it must not be kept. */
  effects = 0;
  isStoring = false;
  /** Whether the call was to be kept again while it was being kept. */
  isDue = false;
  /** As performance.now() tells. */
  storedAt = Number.NEGATIVE_INFINITY;
  timer: NodeJS.Timeout | undefined;
  readonly waiting: Array<() => void> = [];
}

/** A call that keeps waking up beside its question is kept again at most this often. */
const leastGapMs = 500;
/** Memory beyond this is not kept: the call waits all the same, but does not survive. */
const maxBlobBytes = 32 * 1024 * 1024;

/** Keeps calls that ask a person in the middle, so that they survive the end of the daemon. */
export type DurableWaits = ReturnType<typeof createDurableWaits>;

/** Creates the keeper of waiting calls. `onStored` hears of every call that is kept now; neither it nor `onFault` may throw. */
export function createDurableWaits(
  parts: Pick<StageParts, 'engines' | 'active' | 'now' | 'onFault'> & {
    readonly store: Pick<Store, 'parkedCalls'>;
    readonly onStored: (call: ActiveCall) => void;
  },
) {
  const { store, engines, active, now, onFault } = parts;
  const waits = new WeakMap<ActiveCall, Wait>();

  function openWait(call: ActiveCall): Wait {
    const wait = waits.get(call) ?? new Wait();
    waits.set(call, wait);
    return wait;
  }

  function canKeep(call: ActiveCall): boolean {
    return engineOf(engines, call)?.suspend !== undefined && areAboveKept(call);
  }

  /** What a call within a call waits for is of no use once the call above it is gone. */
  function areAboveKept({ request: { caller, parent } }: ActiveCall): boolean {
    if (caller.isAnonymous) return false;
    if (parent === undefined) return true;
    const above = active.get(parent.executionId);
    return (
      parent.question !== undefined && above !== undefined && (above.isParked || above.phase === 'started') && canKeep(above)
    );
  }

  /** `stored` gets a promise for each of those above. */
  function holdAbove({ request: { parent } }: ActiveCall, stored: Promise<void>[] = []): () => void {
    const above = parent && active.get(parent.executionId);
    if (above === undefined) return () => {};
    const release = holdAbove(above, stored);
    const wait = openWait(above);
    wait.questions++;
    stored.push(new Promise((resolve) => wait.waiting.push(resolve)));
    storeNow(above, wait);
    return () => {
      wait.questions--;
      // What the call below does now is not in the picture: the next one is taken at once.
      wait.storedAt = Number.NEGATIVE_INFINITY;
      release();
    };
  }

  function storeNow(call: ActiveCall, wait: Wait): void {
    if (wait.isStoring) {
      wait.isDue = true;
      return;
    }
    wait.isStoring = true;
    wait.isDue = false;
    void keep(call, wait).then((isKept) => {
      wait.isStoring = false;
      if (isKept) for (const resolve of wait.waiting.splice(0)) resolve();
      if (wait.isDue && call.phase === 'started') storeNow(call, wait);
    });
  }

  /** False when the call woke up before it could be kept: it will wait again. */
  async function keep(call: ActiveCall, wait: Wait): Promise<boolean> {
    const { id } = call.record;
    const { effects } = wait;
    // As of now: what the call logs or does later is not in the picture of its memory either.
    const factsJson = describeParked(call, 'confirm');
    try {
      const blob = await engineOf(engines, call)?.suspend?.(id);
      if (blob === undefined || wait.effects !== effects || call.phase !== 'started') return false;
      if (blob.length > maxBlobBytes) return true;
      wait.storedAt = performance.now();
      store.parkedCalls.put({ executionId: id, factsJson, blob, parkedAtMs: now() });
      call.isParked = true;
      parts.onStored(call);
    } catch (error) {
      onFault(error, id);
    }
    return true;
  }

  function forget(call: ActiveCall): void {
    if (!call.isParked) return;
    call.isParked = false;
    try {
      store.parkedCalls.removeNow(call.record.id);
    } catch (error) {
      onFault(error, call.record.id);
    }
  }

  return {
    /** A person is about to be asked: resolves when the call is kept as it waits now, or cannot be kept. Never rejects. */
    async beforeQuestion(call: ActiveCall): Promise<void> {
      const wait = openWait(call);
      wait.questions++;
      call.hasAsked = true;
      if (!canKeep(call)) return;
      const stored = [new Promise<void>((resolve) => wait.waiting.push(resolve))];
      wait.releases.push(holdAbove(call, stored));
      await Promise.all(stored);
    },
    /** The question has its answer. */
    afterQuestion(call: ActiveCall): void {
      const wait = waits.get(call);
      if (wait === undefined) return;
      wait.questions--;
      wait.releases.pop()?.();
    },
    /** The call waits and does not run. */
    settled(call: ActiveCall): void {
      const wait = waits.get(call);
      if (wait === undefined || wait.questions === 0 || !canKeep(call)) return;
      const restMs = wait.waiting.length === 0 ? wait.storedAt + leastGapMs - performance.now() : 0;
      if (restMs <= 0) {
        storeNow(call, wait);
        return;
      }
      wait.timer ??= setTimeout(() => {
        wait.timer = undefined;
        if (call.phase === 'started' && wait.questions > 0) storeNow(call, wait);
      }, restMs).unref();
    },
    /** Something else is carried out for the call: whoever resumed what was kept before would do it twice. */
    beforeEffect(call: ActiveCall): void {
      const wait = waits.get(call);
      if (wait) wait.effects++;
      forget(call);
    },
    /** Whether a call that waits for its leave to begin can go on after a restart, as far as the calls above it are concerned. */
    areAboveKept,
    /**
     * A call asks a person: those above it wait for its answer, and are kept like it. The returned function says that it has it; neither
     * throws.
     */
    holdAbove: (call: ActiveCall): (() => void) => holdAbove(call),
    /** True while it, or a call below it, waits for the answer of a person. */
    isAsking: (call: ActiveCall): boolean => (waits.get(call)?.questions ?? 0) > 0,
    /** An attempt is over, and with it what it waited for. */
    endAttempt(call: ActiveCall): void {
      const wait = waits.get(call);
      waits.delete(call);
      clearTimeout(wait?.timer);
      for (const resolve of wait?.waiting.splice(0) ?? []) resolve();
      for (const release of wait?.releases.splice(0) ?? []) release();
    },
  };
}
