import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../callers/caller.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import type { EventEnvelope, EventLog } from '../events/event.ts';
import { type EventType, eventTypes, isEventType } from '../events/event-table.ts';
import { filterFor } from '../operations/handlers/events.ts';
import { type Authenticate, type IsCurrent, refuseAnonymous } from './admission/auth.ts';
import type { Shares } from './admission/shares.ts';
import { startEventFeed } from './event-feed.ts';

const heartbeatMs = 15_000;

/** The open streams. */
export interface EventStreams {
  /** Ends the streams of keys that were changed, were revoked or have ended. */
  endOutdated(): void;
  /** Ends every stream; readers come back elsewhere. */
  close(): void;
}

/** Serves GET /api/events: server-sent events, resumable by Last-Event-ID (or ?after=N), filtered by ?types=a,b. */
export function registerEventStream(
  app: FastifyInstance,
  parts: {
    readonly events: EventLog;
    readonly authenticate: Authenticate;
    readonly isCurrent: IsCurrent;
    readonly shares: Shares;
  },
): EventStreams {
  const streams = new Map<ServerResponse, { readonly caller: Caller; readonly end: () => void }>();
  app.route({
    method: 'GET',
    url: '/api/events',
    onRequest: (request, _reply, done) => {
      const caller = parts.authenticate(request.headers.authorization);
      if (caller === undefined) return done(refuseAnonymous(request.headers.authorization));
      request.caller = caller;
      done();
    },
    handler: (request, reply) => {
      const query = readStreamQuery(request.query, request.headers['last-event-id']);
      const release = parts.shares.take(request.caller);
      reply.hijack();
      const { raw } = reply;
      openEventStream(raw);
      raw.write('retry: 1000\n\n');
      const endFeed = startEventFeed({
        events: parts.events,
        filter: filterFor(request.caller, query.types),
        after: query.after,
        sink: createStreamSink(raw, () => parts.isCurrent(request.caller)),
      });
      // A key that has ended by its time is noticed here.
      const heartbeat = setInterval(() => (parts.isCurrent(request.caller) ? raw.write(':\n\n') : raw.end()), heartbeatMs);
      const end = (): void => {
        clearInterval(heartbeat);
        endFeed();
        release();
        streams.delete(raw);
      };
      streams.set(raw, { caller: request.caller, end });
      raw.once('close', end);
    },
  });
  return {
    endOutdated() {
      for (const [raw, { caller }] of streams) if (!parts.isCurrent(caller)) raw.end();
    },
    close() {
      for (const [raw, { end }] of streams) {
        end();
        raw.end();
      }
    },
  };
}

/** Sends the head of a stream of server-sent events. */
export function openEventStream(raw: ServerResponse): void {
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
}

function createStreamSink(raw: ServerResponse, isCurrent: () => boolean) {
  return {
    write: (event: EventEnvelope) => {
      if (isCurrent()) raw.write(formatEvent(event));
      // Ended, not only silent: the reader comes back and gets what its key allows now.
      else raw.end();
    },
    pendingBytes: () => raw.writableLength,
    drained: () => {
      if (!raw.writableNeedDrain || raw.destroyed) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      raw.once('drain', resolve);
      raw.once('close', resolve);
      return promise;
    },
    refuseSlowReader: () => {
      raw.end(': too slow, come back with Last-Event-ID\n\n');
      // Its window is full, so the farewell may never leave: what it holds is given up now.
      setImmediate(() => raw.destroy());
    },
  };
}

/** One event on the wire. What is not kept has no id, so that a reader resumes after the last kept one. */
export function formatEvent(event: EventEnvelope): string {
  const id = event.seq === 0 ? '' : `id: ${event.seq}\n`;
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const streamParameters: readonly string[] = ['types', 'after'];

function readStreamQuery(query: unknown, lastEventId: unknown): { after?: number; types?: EventType[] } {
  const parameters = typeof query === 'object' && query !== null ? new Map<string, unknown>(Object.entries(query)) : new Map();
  for (const name of parameters.keys()) {
    if (!streamParameters.includes(name)) {
      const message = `There is no parameter ${JSON.stringify(name.slice(0, 64))}.${suggestNearNames(name, streamParameters)}`;
      throw new HotcellError('body-invalid', message, { fix: `Known are ${streamParameters.join(' and ')}.` });
    }
  }
  const after = lastEventId ?? parameters.get('after');
  const types = parameters.get('types');
  return {
    ...(after === undefined ? {} : { after: readSequence(after) }),
    ...(types === undefined ? {} : { types: readTypes(types) }),
  };
}

function readSequence(text: unknown): number {
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text);
  throw new HotcellError(
    'body-invalid',
    'Expected the sequence number of an event in Last-Event-ID or after, got something else.',
  );
}

function readTypes(value: unknown): EventType[] {
  const names = [value].flat().flatMap((item) => (typeof item === 'string' ? item.split(',') : []));
  return names.map(requireEventType);
}

/** Throws `body-invalid` with near names and all that there are. */
export function requireEventType(name: string): EventType {
  if (isEventType(name)) return name;
  const message = `There is no event "${name.slice(0, 64)}".${suggestNearNames(name, eventTypes)}`;
  throw new HotcellError('body-invalid', message, { fix: `Known are ${[...eventTypes].join(', ')}.` });
}
