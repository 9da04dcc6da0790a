import { Counts } from '../collections/counts.ts';
import type { PlaceBounds } from '../config/quotas/quota.ts';
import type { Queued } from './fair-queue.ts';

/** For whom a place is held. */
export interface Holder extends Queued {
  /** An admin: the reserve is for these. */
  readonly isAdmin: boolean;
}

/** What one holder has of something bounded. */
export interface HeldPlace {
  /** Gives it back; again does nothing. */
  leave(): void;
}

/** A bound that is reached, and what reached it: `8 calls of this caller`. */
export interface FullBound {
  readonly bound: 'caller' | 'plugin' | 'all';
  readonly calls: string;
  readonly max: number;
}

/** Counts who holds how much of something, by caller, by plugin and in all. Operators have the reserve beside what everybody may have. */
export function createPlaceCount(bounds: PlaceBounds) {
  const { perCaller, perPlugin, inAll, reserve } = bounds;
  const heldByCaller = new Counts();
  const heldByPlugin = new Counts();
  const callerIsFull: FullBound = { bound: 'caller', calls: `${perCaller} calls of this caller`, max: perCaller };
  const pluginIsFull: FullBound = { bound: 'plugin', calls: `${perPlugin} calls of this plugin`, max: perPlugin };
  const allIsFull: FullBound = { bound: 'all', calls: `${inAll} calls`, max: inAll };
  let held = 0;
  let reserved = 0;

  function findCommon({ callerId, unitPath }: Holder): FullBound | undefined {
    if (heldByCaller.of(callerId) >= perCaller) return callerIsFull;
    if (held >= inAll) return allIsFull;
    return heldByPlugin.of(unitPath) >= perPlugin ? pluginIsFull : undefined;
  }

  return {
    /** Whether anybody may have one more: operators, or the others. */
    hasRoom: (isAdmin: boolean): boolean => held < inAll || (isAdmin && reserved < reserve),
    size: (): number => held + reserved,
    /** The bound that keeps the holder from one more; undefined when it may have it. */
    findFull(holder: Holder): FullBound | undefined {
      const full = findCommon(holder);
      return holder.isAdmin && reserved < reserve ? undefined : full;
    },
    /** Counts one more in, though it be beyond the bounds. */
    take(holder: Holder): HeldPlace {
      const isReserved = holder.isAdmin && findCommon(holder) !== undefined;
      const count = (by: number): void => {
        if (isReserved) reserved += by;
        else {
          held += by;
          heldByCaller.add(holder.callerId, by);
          heldByPlugin.add(holder.unitPath, by);
        }
      };
      count(1);
      let isHeld = true;
      return {
        leave() {
          if (isHeld) count(-1);
          isHeld = false;
        },
      };
    },
  };
}
