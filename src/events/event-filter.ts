import type { EventEnvelope, EventFilter, EventType } from './event.ts';

/** Events of the daemon itself that every caller may see. */
export const publicEventTypes: readonly EventType[] = ['tools-change'];

/** Events that only live subscribers get: they are not kept and carry the sequence number 0. */
const fleetingEventTypes: ReadonlySet<EventType> = new Set<EventType>(['execution-log', 'execution-progress']);

/** True when events of this type are kept. */
export function isKeptEventType(type: EventType): boolean {
  return !fleetingEventTypes.has(type);
}

/** Whether somebody may see an event and asked for it. Without a caller the filter is an admin's and hides nothing. */
export function passesEventFilter(event: Pick<EventEnvelope, 'type' | 'caller'>, filter: EventFilter): boolean {
  if (filter.types !== undefined && !filter.types.includes(event.type)) return false;
  if (filter.caller === undefined || event.caller === filter.caller) return true;
  return event.caller === null && publicEventTypes.includes(event.type);
}
