import { Counts } from '../collections/counts.ts';
import type { Candidacy, Queued } from './fair-queue.ts';

/**
 * Counts the calls that an engine could run at this moment: started, and not waiting at the border. Few (`size`, at least 1) are
 * handed over at once, so that the order of the fair queue, not the engine's, decides who runs next.
 */
export function createRunnableSlots<Item extends Queued>(size: number) {
  const heldSince = new Map<Item, number>();
  const heldByPlugin = new Counts();
  const heldByCaller = new Counts();
  const share = Math.max(1, Math.ceil(size / 2));
  const maxOfPlugin = Math.max(1, size - 1);

  return {
    hasFree: (): boolean => heldSince.size < size,
    /** A started or woken call is runnable; a woken one may pass the bound. */
    hold(item: Item, nowMs: number): void {
      if (heldSince.has(item)) return;
      heldSince.set(item, nowMs);
      heldByPlugin.add(item.unitPath, 1);
      heldByCaller.add(item.callerId, 1);
    },
    release(item: Item): void {
      if (!heldSince.delete(item)) return;
      heldByPlugin.add(item.unitPath, -1);
      heldByCaller.add(item.callerId, -1);
    },
    /** Whether a queued call may have a slot: never the last one for a plugin that has the others, not gladly beyond half. */
    judge(item: Item): Candidacy {
      const ofPlugin = heldByPlugin.of(item.unitPath);
      if (ofPlugin >= maxOfPlugin) return 'no';
      return ofPlugin >= share || heldByCaller.of(item.callerId) >= share ? 'fallback' : 'yes';
    },
    /**
     * Whether a queued call may begin when every slot is held: a caller that holds none comes in beside the others, and where all slots have been held
     * since before `ms` so does a plugin that holds none.
     */
    judgeNewcomer(item: Item, ms: number): Candidacy {
      if (!heldByCaller.has(item.callerId)) return 'yes';
      if (heldByPlugin.has(item.unitPath)) return 'no';
      for (const since of heldSince.values()) if (since > ms) return 'no';
      return 'yes';
    },
  };
}
