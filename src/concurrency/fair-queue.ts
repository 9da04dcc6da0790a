import { LinkedList, type ListNode } from '../collections/linked-list.ts';

/** What waits: turns go round over callers first, then over the plugins of a caller. */
export interface Queued {
  readonly callerId: string;
  readonly unitPath: string;
}

/** How `take` judges one candidate: not now, nor anything else of its caller, only when there is no better one, or at once. */
export type Candidacy = 'no' | 'no-caller' | 'fallback' | 'yes';

/** A place in the queue. */
export type QueuePlace<Item> = ListNode<Item>;

interface Lane<Item> {
  readonly unitPath: string;
  readonly items: LinkedList<Item>;
}

interface CallerLine<Item> {
  readonly callerId: string;
  readonly lanes: LinkedList<Lane<Item>>;
  readonly laneNodes: Map<string, ListNode<Lane<Item>>>;
}

const maxCallersLookedAt = 64;
/** So that a caller with many plugins, none of which may run, does not hide the other callers. */
const maxLanesLookedAt = 8;

/** Creates a queue in which nobody waits for somebody else's flood. All operations take constant time. */
export function createFairQueue<Item extends Queued>() {
  const lines = new LinkedList<CallerLine<Item>>();
  const lineNodes = new Map<string, ListNode<CallerLine<Item>>>();
  let size = 0;

  function lineOf(callerId: string): ListNode<CallerLine<Item>> {
    let line = lineNodes.get(callerId);
    if (line === undefined) {
      line = lines.append({ callerId, lanes: new LinkedList(), laneNodes: new Map() });
      lineNodes.set(callerId, line);
    }
    return line;
  }

  function laneOf(line: CallerLine<Item>, unitPath: string): ListNode<Lane<Item>> {
    let lane = line.laneNodes.get(unitPath);
    if (lane === undefined) {
      lane = line.lanes.append({ unitPath, items: new LinkedList() });
      line.laneNodes.set(unitPath, lane);
    }
    return lane;
  }

  function remove(place: QueuePlace<Item>): void {
    const { callerId, unitPath } = place.value;
    const line = lineOf(callerId);
    const lane = laneOf(line.value, unitPath);
    lane.value.items.remove(place);
    size--;
    if (lane.value.items.size > 0) return;
    line.value.lanes.remove(lane);
    line.value.laneNodes.delete(unitPath);
    if (line.value.lanes.size > 0) return;
    lines.remove(line);
    lineNodes.delete(callerId);
  }

  /** After a turn the lane and its caller go to the end of their rounds. */
  function takeFrom(line: ListNode<CallerLine<Item>>, lane: ListNode<Lane<Item>>): Item | undefined {
    const place = lane.value.items.first;
    if (place === undefined) return undefined;
    lines.moveToEnd(line);
    line.value.lanes.moveToEnd(lane);
    remove(place);
    return place.value;
  }

  function take(judge: (item: Item) => Candidacy): Item | undefined {
    let callersLeft = maxCallersLookedAt;
    let fallback: (() => Item | undefined) | undefined;
    for (let line = lines.first; line !== undefined && callersLeft > 0; line = line.next, callersLeft--) {
      let lanesLeft = maxLanesLookedAt;
      for (let lane = line.value.lanes.first; lane !== undefined && lanesLeft > 0; lane = lane.next, lanesLeft--) {
        const item = lane.value.items.first?.value;
        const candidacy = item === undefined ? 'no' : judge(item);
        if (candidacy === 'yes') return takeFrom(line, lane);
        if (candidacy === 'no-caller') break;
        const [fallbackLine, fallbackLane] = [line, lane];
        if (candidacy === 'fallback') fallback ??= () => takeFrom(fallbackLine, fallbackLane);
      }
    }
    if (fallback !== undefined) return fallback();
    // Nobody of those looked at may begin: next time it is those behind them who are looked at.
    if (callersLeft === 0) for (let moved = 0; moved < maxCallersLookedAt; moved++) if (lines.first) lines.moveToEnd(lines.first);
    return undefined;
  }

  return {
    size: () => size,
    push(item: Item): QueuePlace<Item> {
      size++;
      return laneOf(lineOf(item.callerId).value, item.unitPath).value.items.append(item);
    },
    /** Puts an item that had been taken before the others of its plugin and caller. */
    putBack(item: Item): QueuePlace<Item> {
      size++;
      return laneOf(lineOf(item.callerId).value, item.unitPath).value.items.prepend(item);
    },
    /** Takes a place out; it must still be in the queue. */
    remove,
    /** The first item in turn that `judge` lets through; looks at 8 plugins of each of 64 callers at the most. */
    take,
  };
}
