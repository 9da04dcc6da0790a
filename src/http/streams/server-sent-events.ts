import type { ServerResponse } from 'node:http';
import type { EventEnvelope } from '../../events/event.ts';
import type { EventSink } from './event-feed.ts';

const heartbeatMs = 15_000;

/** A response that tells events as they come, until it is ended. */
export interface ServerSentEvents extends EventSink {
  /** Tells something that is no event of the log; `json` is one line. */
  tell(name: string, json: string): void;
  /** Ends it; the reader may come back. */
  end(): void;
}

/** Sends the head of a stream of server-sent events, and a sign of life now and then, as long as `mayGoOn`. */
export function openServerSentEvents(raw: ServerResponse, mayGoOn: () => boolean = () => true): ServerSentEvents {
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  const heartbeat = setInterval(() => (mayGoOn() ? raw.write(':\n\n') : raw.end()), heartbeatMs).unref();
  raw.once('close', () => clearInterval(heartbeat));
  function write(text: string): void {
    if (!raw.writableEnded) raw.write(text);
  }

  return {
    write: (event) => write(formatEvent(event)),
    tell: (name, json) => write(`event: ${name}\ndata: ${json}\n\n`),
    pendingBytes: () => raw.writableLength,
    drained() {
      if (!raw.writableNeedDrain || raw.destroyed) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      raw.once('drain', resolve);
      raw.once('close', resolve);
      return promise;
    },
    refuseSlowReader() {
      raw.end(': too slow, come back with Last-Event-ID\n\n');
      // Its window is full, so the farewell may never leave: what it holds is given up now.
      setImmediate(() => raw.destroy());
    },
    end() {
      clearInterval(heartbeat);
      raw.end();
    },
  };
}

/** One event on the wire. What is not kept has no id, so that a reader resumes after the last kept one. */
function formatEvent(event: EventEnvelope): string {
  const id = event.seq === 0 ? '' : `id: ${event.seq}\n`;
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
