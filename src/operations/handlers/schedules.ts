import type { ScheduleRow } from '../../store/tables/calls/schedules.ts';
import { cutPage } from '../contracts/paging.ts';
import { type ScheduleView, scheduleContracts } from '../contracts/schedules.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../operation-parts.ts';

/** What can be done with calls for later. */
export function createScheduleOperations({ schedules }: Pick<OperationParts, 'schedules'>): Operation[] {
  return [
    implement(scheduleContracts.list, (query, { caller }) => {
      const { items, ...page } = cutPage(schedules.list(caller), query, sortKey);
      return { ...page, items: items.map(describe) };
    }),
    implement(scheduleContracts.cancel, ({ id }, { caller }) => {
      schedules.cancel(id, caller);
      return { id };
    }),
  ];
}

/** In the order of the list, as text. */
function sortKey({ nextAtMs, id }: ScheduleRow): string {
  return `${String(nextAtMs).padStart(16, '0')} ${id}`;
}

function describe({ argumentsJson, timeJson, ...row }: ScheduleRow): ScheduleView {
  return { ...row, arguments: JSON.parse(argumentsJson), time: JSON.parse(timeJson) };
}
