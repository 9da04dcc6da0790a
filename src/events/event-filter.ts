import type { EventEnvelope, EventFilter } from './event.ts';
import { type EventType, eventTypes, isEventType, rowOf } from './event-table.ts';

/** Events that every caller may see. */
export const publicEventTypes: readonly EventType[] = eventTypes
  .filter(isEventType)
  .filter((type) => rowOf(type).seenBy === 'everybody');

/**
 * What somebody may see of an event and asked for; undefined when that is nothing. Without a caller the filter is an admin's
 * and hides nothing.
 */
export function filterEvent(event: EventEnvelope, filter: EventFilter): EventEnvelope | undefined {
  if (filter.execution !== undefined && !executionsOf(event).includes(filter.execution)) return undefined;
  if (filter.types !== undefined && !filter.types.includes(event.type)) return undefined;
  if (filter.caller !== undefined && event.caller !== filter.caller) {
    if (event.caller !== null || !publicEventTypes.includes(event.type)) return undefined;
  }
  const { seesTool } = filter;
  if (seesTool === undefined) return event;
  if (event.type === 'resource-update') return seesTool(event.data.name) ? event : undefined;
  return isNews(event) ? keepTools(event, seesTool) : event;
}

/** The execution that an event is about, as its subject or in its data, and those above it that wait for what is asked. */
export function executionsOf({ subject, data }: EventEnvelope): readonly string[] {
  if (!('execution' in data) || data.execution === undefined) return [subject];
  return [subject, data.execution, ...(('above' in data ? data.above : undefined) ?? [])];
}

type News = Extract<EventEnvelope, { type: 'tools-change' | 'prompts-change' | 'resources-change' }>;

function isNews(event: EventEnvelope): event is News {
  return event.type === 'tools-change' || event.type === 'prompts-change' || event.type === 'resources-change';
}

function keepTools(event: News, seesTool: (name: string) => boolean): EventEnvelope | undefined {
  const keep = (refs: readonly string[]) => refs.filter((ref) => seesTool(ref.slice(0, ref.lastIndexOf('@'))));
  const { added, removed, changed } = event.data;
  const data = { added: keep(added), removed: keep(removed), changed: keep(changed) };
  return data.added.length + data.removed.length + data.changed.length === 0 ? undefined : { ...event, data };
}
