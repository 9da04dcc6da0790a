import type { BorderAnswer, BorderHost, BorderRequest } from '../border/border.ts';
import type { PlaceBounds } from '../config/quotas/quota.ts';
import { type Candidacy, createFairQueue } from './fair-queue.ts';
import { createPlaceCount, type HeldPlace, type Holder } from './place-count.ts';

/** The place of one call in its engine. */
export interface Place {
  /** Gives it up for as long as the call waits for something else; the refusal when too many calls wait so already. */
  stepAside(): string | undefined;
  /** Resolves when nothing of what it stepped aside for is left and it has a place again. Rejects with the signal's reason. */
  comeBack(signal: AbortSignal): Promise<void> | undefined;
  leave(): void;
}

/** Lets so many calls run in an engine at once; the others wait, callers in turn, and the plugins of a caller in turn. */
export interface Places {
  /** The place at once where one is free, else when it is this call's turn. Rejects with the signal's reason. */
  enter(holder: Holder, signal: AbortSignal): Place | Promise<Place>;
}

interface Waiting extends Holder {
  readonly begin: (share: HeldPlace) => void;
}

/**
 * Creates the places of an engine. Whoever steps aside keeps its process or thread, so those aside are bounded as well; a chain
 * of tools that wait for one another takes no place but for the last one.
 */
export function createPlaces(parts: {
  readonly inside: PlaceBounds;
  readonly aside: PlaceBounds;
  readonly engine: string;
}): Places {
  const inside = createPlaceCount(parts.inside);
  const aside = createPlaceCount(parts.aside);
  // Whoever comes back holds a process or thread already: it goes before those that have none.
  const lines = {
    operators: createFairQueue<Waiting>(),
    returning: createFairQueue<Waiting>(),
    others: createFairQueue<Waiting>(),
  };

  function judge(waiting: Waiting): Candidacy {
    const full = inside.findFull(waiting);
    if (full === undefined) return 'yes';
    return full.bound === 'caller' ? 'no-caller' : 'no';
  }

  function serve(): void {
    for (const line of [lines.operators, lines.returning, lines.others]) {
      while (line.size() > 0) {
        const next = line.take(judge);
        if (next === undefined) break;
        next.begin(inside.take(next));
      }
    }
  }

  function enterInside(holder: Holder, usual: 'returning' | 'others', signal: AbortSignal): HeldPlace | Promise<HeldPlace> {
    signal.throwIfAborted();
    const line = lines[holder.isAdmin ? 'operators' : usual];
    if (line.size() === 0 && inside.findFull(holder) === undefined) return inside.take(holder);
    return new Promise((resolve, reject) => {
      const { callerId, unitPath, isAdmin } = holder;
      const begin = (share: HeldPlace): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(share);
      };
      const queued = line.push({ callerId, unitPath, isAdmin, begin });
      const giveUp = (): void => {
        line.remove(queued);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      // Another caller's line does not bar a place that only this one may have.
      serve();
    });
  }

  function open(holder: Holder, first: HeldPlace): Place {
    let here: HeldPlace | undefined = first;
    let outside: HeldPlace | undefined;
    let waits = 0;
    let isGone = false;

    const giveBack = (): void => {
      here?.leave();
      outside?.leave();
      here = undefined;
      outside = undefined;
      serve();
    };
    return {
      stepAside() {
        if (outside === undefined) {
          const full = aside.findFull(holder);
          if (full !== undefined) {
            return `${full.calls} wait in the engine "${parts.engine}" for a person, a model or another tool already. Try again later.`;
          }
          outside = aside.take(holder);
          here?.leave();
          here = undefined;
          serve();
        }
        waits++;
        return undefined;
      },
      async comeBack(signal) {
        waits--;
        if (waits > 0 || isGone) return;
        const share = await enterInside(holder, 'returning', signal);
        // The call may have ended, wait again, or have come back another way while it stood in line.
        if (isGone || waits > 0 || here !== undefined) {
          share.leave();
          serve();
          return;
        }
        here = share;
        outside?.leave();
        outside = undefined;
      },
      leave() {
        isGone = true;
        giveBack();
      },
    };
  }

  return {
    enter(holder, signal) {
      const share = enterInside(holder, 'others', signal);
      return share instanceof Promise ? share.then((taken) => open(holder, taken)) : open(holder, share);
    },
  };
}

/** Answers a call that gives its place up while it waits for long; `signal` ends with the call. */
export async function answerAside(
  place: Place,
  host: Pick<BorderHost, 'answer' | 'longWait'>,
  request: BorderRequest,
  signals: { readonly question: AbortSignal; readonly call: AbortSignal },
): Promise<BorderAnswer> {
  const wait = host.longWait?.(request.op);
  if (wait === undefined) return host.answer(request, signals.question);
  const refusal = place.stepAside();
  if (refusal !== undefined) {
    if (wait.whenFull === 'inside') return host.answer(request, signals.question);
    return { ok: false, code: 'queue-full', message: refusal };
  }
  try {
    return await host.answer(request, signals.question);
  } finally {
    // A call that ended needs no place any more.
    await place.comeBack(signals.call)?.catch(() => undefined);
  }
}
