import type { Store } from '../../store/store-types.ts';
import type { ActiveCall } from '../active-call.ts';
import { type Engines, engineOf } from '../runner.ts';
import { describeParked } from './parked-facts.ts';

/** Keeps calls that ask a person in the middle, so that they survive the end of the daemon. */
export interface DurableWaits {
  /** A person is about to be asked: resolves when the call is kept as it waits now, or cannot be kept. Never rejects. */
  beforeQuestion(call: ActiveCall): Promise<void>;
  /** The question has its answer. */
  afterQuestion(call: ActiveCall): void;
  /** The call waits and does not run. */
  settled(call: ActiveCall): void;
  /** Something else is carried out for the call: whoever resumed what was kept before would do it twice. */
  beforeEffect(call: ActiveCall): void;
  /** True while it waits for the answer of a person. */
  isAsking(call: ActiveCall): boolean;
  /** An attempt is over, and with it what it waited for. */
  endAttempt(call: ActiveCall): void;
}

/** What a call that asked a person keeps in mind. */
interface Wait {
  /** Questions to people without an answer. */
  questions: number;
  /** Rises with every effect: a picture of the call from before it must not be kept. */
  effects: number;
  isStoring: boolean;
  /** It was asked to be kept again in the meantime. */
  isDue: boolean;
  /** As performance.now() tells. */
  storedAt: number;
  timer: NodeJS.Timeout | undefined;
  readonly waiting: Array<() => void>;
}

/** A call that keeps waking up beside its question is kept again at most this often. */
const leastGapMs = 500;
/** Memory beyond this is not kept: the call waits all the same, but does not survive. */
const maxBlobBytes = 32 * 1024 * 1024;

/** Creates the keeper. `onStored` hears of every call that is kept now; neither it nor `onFault` may throw. */
export function createDurableWaits(parts: {
  readonly store: Pick<Store, 'parkedCalls'>;
  readonly engines: Engines;
  readonly now: () => number;
  readonly onStored: (call: ActiveCall) => void;
  readonly onFault: (error: unknown, executionId: string) => void;
}): DurableWaits {
  const { store, engines, now, onFault } = parts;
  const waits = new WeakMap<ActiveCall, Wait>();

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
    async beforeQuestion(call) {
      const wait = waits.get(call) ?? createWait();
      waits.set(call, wait);
      wait.questions++;
      call.hasAsked = true;
      // What a call within a call waits for is of no use once the call above it is gone.
      const cannot = engineOf(engines, call)?.suspend === undefined || call.request.parent !== undefined;
      if (!cannot && !call.request.caller.isAnonymous) await new Promise<void>((resolve) => wait.waiting.push(resolve));
    },
    afterQuestion(call) {
      const wait = waits.get(call);
      if (wait) wait.questions--;
    },
    settled(call) {
      const wait = waits.get(call);
      if (wait === undefined || wait.questions === 0 || call.request.parent !== undefined) return;
      const restMs = wait.waiting.length === 0 ? wait.storedAt + leastGapMs - performance.now() : 0;
      if (restMs <= 0) return storeNow(call, wait);
      wait.timer ??= setTimeout(() => {
        wait.timer = undefined;
        if (call.phase === 'started' && wait.questions > 0) storeNow(call, wait);
      }, restMs).unref();
    },
    beforeEffect(call) {
      const wait = waits.get(call);
      if (wait) wait.effects++;
      forget(call);
    },
    isAsking: (call) => (waits.get(call)?.questions ?? 0) > 0,
    endAttempt(call) {
      const wait = waits.get(call);
      waits.delete(call);
      clearTimeout(wait?.timer);
      for (const resolve of wait?.waiting.splice(0) ?? []) resolve();
    },
  };
}

function createWait(): Wait {
  return {
    questions: 0,
    effects: 0,
    isStoring: false,
    isDue: false,
    storedAt: Number.NEGATIVE_INFINITY,
    timer: undefined,
    waiting: [],
  };
}
