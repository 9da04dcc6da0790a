import type { Caller } from '../../callers/caller.ts';
import type { EventFilter } from '../../events/event.ts';
import type { EventType } from '../../events/event-table.ts';
import { seesToolName } from '../../tools/seen-by-callers.ts';
import { eventContracts } from '../contracts/events.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

const defaultPageSize = 100;

/** Reads of the kept events. */
export function createEventOperations({ events }: OperationParts): Operation[] {
  return [
    implement(eventContracts.list, ({ after = 0, types, limit = defaultPageSize }, { caller }) => {
      const items = events.readAfter(after, filterFor(caller, types), limit);
      const last = items.at(-1);
      const isFull = items.length === limit && last !== undefined;
      return { items, ...(isFull ? { next: last.seq } : {}), lastSeq: events.lastSeq() };
    }),
  ];
}

/** What somebody may see: an admin everything, a caller what is its own and what is public. */
export function filterFor(caller: Caller, types: readonly EventType[] | undefined): EventFilter {
  return {
    ...(caller.role === 'admin' ? {} : { caller: caller.id }),
    ...(caller.tools === undefined ? {} : { seesTool: (name: string) => seesToolName(caller, name) }),
    ...(types === undefined || types.length === 0 ? {} : { types }),
  };
}
