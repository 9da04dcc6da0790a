import type { EventEnvelope, EventFilter, EventLog } from '../../events/event.ts';

/** Where the events of a feed go. */
export interface EventSink {
  write(event: EventEnvelope): void;
  /** Bytes that the reader has not taken yet. */
  pendingBytes(): number;
  /** Resolves when the reader has taken all, or is gone. */
  drained(): Promise<void>;
  /** The reader is too slow: end it, saying so. Called at most once. */
  refuseSlowReader(): void;
}

/** What a feed sends. */
export interface FeedRequest {
  readonly events: EventLog;
  readonly filter: EventFilter;
  /** Kept events after this sequence number come first; only new ones when absent. */
  readonly after?: number | undefined;
  readonly sink: EventSink;
}

const pageSize = 200;
const maxPendingBytes = 1024 * 1024;
const maxQueuedEvents = 10_000;

/**
 * Sends kept events and then live ones, without a gap and without repeating one. A reader that does not keep up is
 * ended instead of filling memory: it comes back and goes on where it was. Returns the end of the feed.
 */
export function startEventFeed({ events, filter, after, sink }: FeedRequest): () => void {
  let isEnded = false;
  let replayed: EventEnvelope[] | undefined = after === undefined ? undefined : [];

  const unsubscribe = events.subscribe(filter, (event) => {
    if (isEnded) return;
    if (replayed === undefined) deliver(event);
    else if (replayed.push(event) > maxQueuedEvents) endSlowReader();
  });

  function deliver(event: EventEnvelope): void {
    if (sink.pendingBytes() > maxPendingBytes) endSlowReader();
    else sink.write(event);
  }

  function endSlowReader(): void {
    end();
    sink.refuseSlowReader();
  }

  function end(): void {
    isEnded = true;
    replayed = undefined;
    unsubscribe();
  }

  async function replay(from: number): Promise<void> {
    let cursor = from;
    for (let isMore = true; isMore && !isEnded; ) {
      const page = events.readAfter(cursor, filter, pageSize);
      for (const event of page) {
        if (isEnded) return;
        sink.write(event);
        // A page of large events is more than a reader may let wait.
        if (sink.pendingBytes() > maxPendingBytes) await sink.drained();
      }
      cursor = page.at(-1)?.seq ?? cursor;
      isMore = page.length === pageSize;
      if (isMore) await sink.drained();
    }
    const queued = replayed ?? [];
    replayed = undefined;
    for (const event of queued) {
      if (!isEnded && (event.seq === 0 || event.seq > cursor)) deliver(event);
    }
  }

  if (after !== undefined) {
    replay(after).catch(() => {
      // The store is closing: what is missing is sent to the reader when it comes back.
      if (!isEnded) end();
    });
  }
  return end;
}
