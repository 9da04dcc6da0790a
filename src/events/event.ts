import { Compile, type Validator } from 'typebox/compile';
import { type EventDataByType, type EventType, isEventType, rowOf } from './event-table.ts';

/** One event on its way: what happened, to whom, for whom. `caller` is null for what concerns the daemon itself. */
export type EventEnvelope = {
  [Type in EventType]: {
    /** Durable: rises for ever, also over restarts; 0 for fleeting events that are not kept (log, progress). */
    readonly seq: number;
    readonly type: Type;
    /** Epoch ms. */
    readonly at: number;
    readonly caller: string | null;
    readonly subject: string;
    readonly data: EventDataByType[Type];
  };
}[EventType];

/** Publishes and keeps events. */
export interface EventLog {
  /** Gives the event its sequence number, keeps it and tells subscribers. Must not throw because of a subscriber. */
  publish<Type extends EventType>(
    type: Type,
    event: { caller?: string | null; subject: string; data: EventDataByType[Type] },
  ): void;
  /** Calls `listener` for every later event that the filter lets through; returns the end of the subscription. */
  subscribe(filter: EventFilter, listener: (event: EventEnvelope) => void): () => void;
  /** Kept events after `seq`, oldest first, at most `limit`. */
  readAfter(seq: number, filter: EventFilter, limit: number): EventEnvelope[];
  /** The newest sequence number. */
  lastSeq(): number;
}

/** Which events somebody may see: all for an admin, else only those of the caller and those of nobody that are public. */
export interface EventFilter {
  readonly caller?: string;
  /** Whose names news about tools, prompts and resources may tell; all when absent. */
  readonly seesTool?: (name: string) => boolean;
  readonly types?: readonly EventType[];
  /** Only what happens in this execution, and what is asked and answered in it. */
  readonly execution?: string;
}

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
