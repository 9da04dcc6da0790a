import type { Caller } from '../../callers/caller.ts';
import type { EventFilter } from '../../events/event.ts';
import type { EventType } from '../../events/event-table.ts';
import { seesToolName } from '../../tools/seen-by-callers.ts';
import { eventContracts } from '../contracts/events.ts';
import { implement, type Operation, type OperationContext } from '../operation.ts';
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

/** Tells what happens in an execution, or in a loop, to whoever asked for it, until `ended` is there. */
export async function tellMeanwhile<Ended>(
  { events }: Pick<OperationParts, 'events'>,
  id: string,
  { caller, stream }: OperationContext,
  ended: () => Promise<Ended>,
): Promise<Ended> {
  const endStream =
    stream && events.subscribe({ ...filterFor(caller, undefined), execution: id }, (event) => stream.event(event));
  try {
    stream?.accepted(id);
    return await ended();
  } finally {
    endStream?.();
  }
}

/** What somebody may see: an admin everything, a caller what is its own and what is public. */
export function filterFor(caller: Caller, types: readonly EventType[] | undefined): EventFilter {
  return {
    ...(caller.role === 'admin' ? {} : { caller: caller.id }),
    ...(caller.tools === undefined ? {} : { seesTool: (name: string) => seesToolName(caller, name) }),
    ...(types === undefined || types.length === 0 ? {} : { types }),
  };
}
