import type { BorderHost } from '../border.ts';
import { createSlots } from './slots.ts';

/** The place of one call among those that run. */
export interface Place {
  /** Makes room for another call for the rest of this one; false when too many did already. */
  stepAside(): boolean;
  leave(): void;
}

/** Lets so many calls run at once; the others wait in line. */
export interface Places {
  /** Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<Place>;
}

/**
 * Makes the places. A tool that a call waits for may need one too: the caller steps aside, so that calls that wait for each
 * other do not take all places. It keeps its process, so those aside are bounded as well.
 */
export function createPlaces({ most, mostAside }: { readonly most: number; readonly mostAside: number }): Places {
  const slots = createSlots(most);
  let aside = 0;
  return {
    async enter(signal) {
      const leaveSlot = await slots.enter(signal);
      let where: 'inside' | 'aside' | 'gone' = 'inside';
      return {
        stepAside() {
          if (where !== 'inside') return true;
          if (aside >= mostAside) return false;
          where = 'aside';
          aside++;
          leaveSlot();
          return true;
        },
        leave() {
          if (where === 'aside') aside--;
          where = 'gone';
          leaveSlot();
        },
      };
    },
  };
}

/** The host of a call that steps aside while it waits for another tool or for a person. */
export function steppingAside(host: BorderHost, place: Place): BorderHost {
  const { dial, workspace, waiting } = host;
  return {
    answer: (request, signal) => {
      const mayWait = request.op === 'tools.call' || request.op === 'confirm' ? place.stepAside() : true;
      if (mayWait || request.op === 'confirm') return host.answer(request, signal);
      const message = 'Too many plugins in processes of their own wait for other tools at the moment. Try again later.';
      return Promise.resolve({ ok: false, code: 'queue-full', message });
    },
    view: () => host.view(),
    log: (line) => host.log(line),
    progress: (progress) => host.progress(progress),
    ...(dial ? { dial: (to, signal) => dial.call(host, to, signal) } : {}),
    ...(workspace ? { workspace: () => workspace.call(host) } : {}),
    ...(waiting ? { waiting: (isWaiting) => waiting.call(host, isWaiting) } : {}),
  };
}
