import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Caller } from '../../callers/caller.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { EventLog } from '../../events/event.ts';
import { eventTypesQuery } from '../../operations/contracts/events.ts';
import { filterFor } from '../../operations/handlers/events.ts';
import type { Shares } from '../admission/shares.ts';
import { type EventSink, startEventFeed } from '../streams/event-feed.ts';
import { requireEventType } from '../streams/event-stream.ts';
import { formatNotification } from './message.ts';

const maxSubscriptions = quotas['door.subscriptions'].each.max;

const subscribeInput = Compile(
  Type.Object({ types: eventTypesQuery, after: Type.Optional(Type.Integer({ minimum: 0 })) }, { additionalProperties: false }),
);
const unsubscribeInput = Compile(Type.Object({ subscription: Type.String() }, { additionalProperties: false }));

/** The event subscriptions of one connection: sends events as notifications `events.event` with `{subscription, event}`. */
export function createSubscriptions(parts: {
  readonly events: EventLog;
  readonly shares: Shares;
  readonly send: (text: string) => void;
  readonly sink: Omit<EventSink, 'write'>;
}) {
  const endsById = new Map<string, () => void>();
  let count = 0;
  return {
    subscribe(params: unknown, caller: Caller): { subscription: string; lastSeq: number } {
      if (!subscribeInput.Check(params)) {
        for (const type of readTexts(Object(params).types)) requireEventType(type);
        throw new HotcellError('body-invalid', 'Expected {types?: [event types], after?: sequence number} as params.');
      }
      if (endsById.size >= maxSubscriptions) {
        throw new HotcellError('rate-limited', `A connection may have ${maxSubscriptions} subscriptions at once.`);
      }
      const release = parts.shares.take(caller);
      const subscription = `sub_${++count}`;
      const lastSeq = parts.events.lastSeq();
      // In a later turn, so that the answer to this request goes out before the first event.
      const start = (): void => {
        if (!endsById.has(subscription)) return;
        const end = startEventFeed({
          events: parts.events,
          filter: filterFor(caller, params.types),
          after: params.after ?? lastSeq,
          sink: { ...parts.sink, write: (event) => parts.send(formatNotification('events.event', { subscription, event })) },
        });
        endsById.set(subscription, () => {
          end();
          release();
        });
      };
      const turn = setImmediate(start);
      endsById.set(subscription, () => {
        clearImmediate(turn);
        release();
      });
      return { subscription, lastSeq };
    },
    unsubscribe(params: unknown): { unsubscribed: boolean } {
      if (!unsubscribeInput.Check(params)) throw new HotcellError('body-invalid', 'Expected {subscription} as params.');
      const end = endsById.get(params.subscription);
      end?.();
      return { unsubscribed: endsById.delete(params.subscription) };
    },
    close(): void {
      for (const end of endsById.values()) end();
      endsById.clear();
    },
  };
}

function readTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
