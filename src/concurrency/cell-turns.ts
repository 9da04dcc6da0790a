import { LinkedList, type ListNode } from '../collections/linked-list.ts';

/** Creates the turns of all cells that calls share: one call at a time is let into each. */
export function createCellTurns<Item>() {
  const waitingByCell = new Map<string, LinkedList<Item>>();
  const places = new Map<Item, ListNode<Item>>();
  return {
    /** True when the cell was free and is now taken; else the item waits for its turn. */
    enter(cellKey: string, item: Item): boolean {
      const waiting = waitingByCell.get(cellKey);
      if (waiting === undefined) {
        waitingByCell.set(cellKey, new LinkedList());
        return true;
      }
      places.set(item, waiting.append(item));
      return false;
    },
    /** Ends a turn; returns whose turn it is now. */
    leave(cellKey: string): Item | undefined {
      const waiting = waitingByCell.get(cellKey);
      const next = waiting?.first;
      if (waiting === undefined || next === undefined) {
        waitingByCell.delete(cellKey);
        return undefined;
      }
      waiting.remove(next);
      places.delete(next.value);
      return next.value;
    },
    /** Takes a waiting item out; false when it does not wait. */
    remove(item: Item): boolean {
      const place = places.get(item);
      if (place === undefined) return false;
      places.delete(item);
      place.list.remove(place);
      return true;
    },
  };
}
