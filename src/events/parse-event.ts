import { Compile, type Validator } from 'typebox/compile';
import type { EventEnvelope } from './event.ts';
import { type EventType, isEventType, rowOf } from './event-table.ts';

const validators = new Map<EventType, Validator>();

/** Reads an event that comes from the disk; undefined when this version does not know its type or its data. */
export function parseEvent(event: UnreadEvent): EventEnvelope | undefined {
  return isEvent(event) ? event : undefined;
}

/** An event as it was kept. */
export interface UnreadEvent {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly caller: string | null;
  readonly subject: string;
  readonly data: unknown;
}

function isEvent(event: UnreadEvent): event is EventEnvelope {
  return isEventType(event.type) && validatorOf(event.type).Check(event.data);
}

function validatorOf(type: EventType): Validator {
  const validator = validators.get(type) ?? Compile(rowOf(type).data);
  validators.set(type, validator);
  return validator;
}
