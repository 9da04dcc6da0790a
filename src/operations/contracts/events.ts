import { Type } from 'typebox';
import type { EventEnvelope } from '../../events/event.ts';
import { type EventType, eventTypes } from '../../events/event-table.ts';
import { defineContract } from '../operation.ts';

const eventType = Type.Unsafe<EventType>(Type.Enum([...eventTypes]));

/** Events of some types only, in order. */
export const eventTypesQuery = Type.Optional(Type.Array(eventType, { maxItems: 32, description: 'Only these types.' }));

/** One event as doors send it. */
export const eventEnvelope = Type.Unsafe<EventEnvelope>(
  Type.Object({
    seq: Type.Integer({ description: 'Rises for ever; 0 for what is not kept.' }),
    type: Type.String(),
    at: Type.Number(),
    caller: Type.Union([Type.String(), Type.Null()]),
    subject: Type.String(),
    data: Type.Unknown(),
  }),
);

/** Reads of the kept events; live ones come from GET /api/events and events.subscribe. */
export const eventContracts = {
  list: defineContract({
    name: 'events.list',
    summary: 'Lists kept events after a sequence number, oldest first; a caller sees its own.',
    role: 'caller',
    input: {
      after: Type.Optional(Type.Integer({ minimum: 0 })),
      types: eventTypesQuery,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    },
    output: Type.Object({ items: Type.Array(eventEnvelope), next: Type.Optional(Type.Integer()), lastSeq: Type.Integer() }),
    http: { method: 'GET', path: '/api/events/kept' },
  }),
};
