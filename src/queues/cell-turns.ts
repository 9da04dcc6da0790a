import { LinkedList, type ListNode } from './linked-list.ts';

/** Lets one call at a time into a cell that calls share. */
export interface CellTurns<Item> {
  /** True when the cell was free and is now taken; else the item waits for its turn. */
  enter(cellKey: string, item: Item): boolean;
  /** Ends a turn; returns whose turn it is now. */
  leave(cellKey: string): Item | undefined;
  /** Takes a waiting item out; false when it does not wait. */
  remove(item: Item): boolean;
}

/** Creates the turns of all cells. */
export function createCellTurns<Item>(): CellTurns<Item> {
  const waitingByCell = new Map<string, LinkedList<Item>>();
  const places = new Map<Item, ListNode<Item>>();
  return {
    enter(cellKey, item) {
      const waiting = waitingByCell.get(cellKey);
      if (waiting === undefined) {
        waitingByCell.set(cellKey, new LinkedList());
        return true;
      }
      places.set(item, waiting.append(item));
      return false;
    },
    leave(cellKey) {
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
    remove(item) {
      const place = places.get(item);
      if (place === undefined) return false;
      places.delete(item);
      place.list.remove(place);
      return true;
    },
  };
}
