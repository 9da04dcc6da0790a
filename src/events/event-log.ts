import { quotas } from '../config/quotas.ts';
import type { Store } from '../store/store-types.ts';
import type { EventRow } from '../store/tables/events.ts';
import { type EventEnvelope, type EventFilter, type EventLog, parseEvent } from './event.ts';
import { executionsOf, filterEvent, publicEventTypes } from './event-filter.ts';
import { type EventDataByType, type EventType, rowOf } from './event-table.ts';

/** What an event log is made of. */
export interface EventLogOptions {
  readonly store: Pick<Store, 'events' | 'flush'>;
  /** Epoch ms. */
  readonly now: () => number;
  /** Takes secrets out of the data of events; the same object when there is none. Must not throw. */
  readonly redact?: <Data>(data: Data) => Data;
  /** Hears what a subscriber threw. Must not throw. */
  readonly onSubscriberError?: (error: unknown) => void;
}

interface Subscription {
  readonly filter: EventFilter;
  readonly listener: (event: EventEnvelope) => void;
}

/** Numbers reserved ahead: what a killed process gave out but did not commit is never given out again. */
const reservedAhead = 4096;
const { inAll: keptEvents } = quotas['disk.events'];
const { inAll: maxBytes } = quotas['disk.eventBytes'];
const pruneEvery = 1000;
const pruneEveryChars = maxBytes / 16;

/** Creates the event log over the events of a store. */
export function createEventLog(options: EventLogOptions): EventLog {
  const { store, now, redact = (data) => data, onSubscriberError = () => {} } = options;
  let seq = store.events.lastSeq();
  let reservedSeq = seq + reservedAhead;
  let keptSincePrune = 0;
  let charsSincePrune = 0;
  // Replaced, never changed: a subscription that begins or ends during a delivery counts from the next event.
  let subscriptions: readonly Subscription[] = [];
  const subscriptionsByExecution = new Map<string, Set<Subscription>>();
  const undelivered: EventEnvelope[] = [];
  let isDelivering = false;
  store.events.reserve(reservedSeq);
  store.events.prune(keptEvents, maxBytes);
  store.flush();

  function keep(row: EventRow): void {
    if (seq + reservedAhead / 2 > reservedSeq) {
      reservedSeq = seq + reservedAhead;
      store.events.reserve(reservedSeq);
    }
    store.events.insert(row);
    keptSincePrune++;
    charsSincePrune += row.dataJson.length;
    if (keptSincePrune < pruneEvery && charsSincePrune < pruneEveryChars) return;
    keptSincePrune = 0;
    charsSincePrune = 0;
    store.events.prune(keptEvents, maxBytes);
  }

  /** A listener that publishes is served after the event at hand, so that everybody sees one order. */
  function deliver(event: EventEnvelope): void {
    undelivered.push(event);
    if (isDelivering) return;
    isDelivering = true;
    for (let next = undelivered.shift(); next !== undefined; next = undelivered.shift()) tell(next);
    isDelivering = false;
  }

  function tell(event: EventEnvelope): void {
    for (const subscription of subscriptions) tellOne(subscription, event);
    if (subscriptionsByExecution.size === 0) return;
    for (const id of executionsOf(event)) {
      for (const subscription of [...(subscriptionsByExecution.get(id) ?? [])]) tellOne(subscription, event);
    }
  }

  function tellOne({ filter, listener }: Subscription, event: EventEnvelope): void {
    const seen = filterEvent(event, filter);
    if (seen === undefined) return;
    try {
      listener(seen);
    } catch (error) {
      onSubscriberError(error);
    }
  }

  /** Thousands of calls may be followed at once: each is told of its own events alone. */
  function follow(execution: string, subscription: Subscription): () => void {
    const followers = subscriptionsByExecution.get(execution) ?? new Set();
    subscriptionsByExecution.set(execution, followers.add(subscription));
    return () => {
      followers.delete(subscription);
      if (followers.size === 0) subscriptionsByExecution.delete(execution);
    };
  }

  return {
    publish<Type extends EventType>(
      type: Type,
      { caller: whose = null, subject, data: told }: { caller?: string | null; subject: string; data: EventDataByType[Type] },
    ) {
      const { seenBy, isFleeting } = rowOf(type);
      const caller = seenBy === 'its-caller' ? whose : null;
      const data = redact(told);
      const at = now();
      const isKept = isFleeting !== true;
      if (isKept) {
        seq++;
        keep({ seq, type, atMs: at, caller, subject, dataJson: JSON.stringify(data) });
      }
      if (subscriptions.length === 0 && subscriptionsByExecution.size === 0) return;
      // TypeScript loses that type and data belong together once they are members of one object.
      deliver({ seq: isKept ? seq : 0, type, at, caller, subject, data } as EventEnvelope);
    },
    subscribe(filter, listener) {
      const subscription = { filter, listener };
      if (filter.execution !== undefined) return follow(filter.execution, subscription);
      subscriptions = [...subscriptions, subscription];
      return () => {
        subscriptions = subscriptions.filter((other) => other !== subscription);
      };
    },
    readAfter(after, filter, limit) {
      const { caller, types } = filter;
      const query = {
        limit,
        publicTypes: publicEventTypes,
        ...(caller === undefined ? {} : { caller }),
        ...(types ? { types } : {}),
      };
      const events: EventEnvelope[] = [];
      // A row may hold nothing for this reader: fewer events than asked for must mean that there are no more.
      for (let from = after, isMore = true; isMore && events.length < limit; ) {
        const rows = store.events.listAfter(from, query);
        const seen = rows.flatMap((row) => readEvent(row) ?? []).flatMap((event) => filterEvent(event, filter) ?? []);
        events.push(...seen.slice(0, limit - events.length));
        from = rows.at(-1)?.seq ?? from;
        isMore = rows.length === limit;
      }
      return events;
    },
    lastSeq: () => seq,
  };
}

function readEvent(row: EventRow): EventEnvelope | undefined {
  const { atMs: at, dataJson, ...rest } = row;
  return parseEvent({ ...rest, at, data: JSON.parse(dataJson) });
}
