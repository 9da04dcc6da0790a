import type { Candidacy, Queued } from './fair-queue.ts';

/**
 * Counts the calls that an engine could run at this moment: started, and not waiting at the border. Few are handed over at
 * once, so that the order of the fair queue, not the engine's, decides who runs next.
 */
export interface RunnableSlots<Item extends Queued> {
  hasFree(): boolean;
  /** A started or woken call is runnable; a woken one may pass the bound. */
  hold(item: Item, nowMs: number): void;
  release(item: Item): void;
  /** Whether a queued call may have a slot: never the last one for a plugin that has the others, not gladly beyond half. */
  judge(item: Item): Candidacy;
  /**
   * The same when every slot is held: a caller that holds none comes in beside the others, and where all slots have been held
   * since before `ms` so does a plugin that holds none.
   */
  judgeNewcomer(item: Item, ms: number): Candidacy;
}

/** Creates the slots. `size` is at least 1. */
export function createRunnableSlots<Item extends Queued>(size: number): RunnableSlots<Item> {
  const heldSince = new Map<Item, number>();
  const heldByPlugin = new Map<string, number>();
  const heldByCaller = new Map<string, number>();
  const share = Math.max(1, Math.ceil(size / 2));
  const maxOfPlugin = Math.max(1, size - 1);

  return {
    hasFree: () => heldSince.size < size,
    hold(item, nowMs) {
      if (heldSince.has(item)) return;
      heldSince.set(item, nowMs);
      count(heldByPlugin, item.unitPath, 1);
      count(heldByCaller, item.callerId, 1);
    },
    release(item) {
      if (!heldSince.delete(item)) return;
      count(heldByPlugin, item.unitPath, -1);
      count(heldByCaller, item.callerId, -1);
    },
    judge(item) {
      const ofPlugin = heldByPlugin.get(item.unitPath) ?? 0;
      if (ofPlugin >= maxOfPlugin) return 'no';
      return ofPlugin >= share || (heldByCaller.get(item.callerId) ?? 0) >= share ? 'fallback' : 'yes';
    },
    judgeNewcomer(item, ms) {
      if (!heldByCaller.has(item.callerId)) return 'yes';
      if (heldByPlugin.has(item.unitPath)) return 'no';
      for (const since of heldSince.values()) if (since > ms) return 'no';
      return 'yes';
    },
  };
}

/** Adds to a count that is forgotten when it is nothing. */
export function count(counts: Map<string, number>, key: string, by: number): void {
  const changed = (counts.get(key) ?? 0) + by;
  if (changed === 0) counts.delete(key);
  else counts.set(key, changed);
}
