import type { FastifyInstance } from 'fastify';
import type { Caller } from '../../callers/caller.ts';
import type { KeyRing } from '../../callers/key-ring.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { suggestNearNames } from '../../errors/near-names.ts';
import type { EventLog } from '../../events/event.ts';
import { type EventType, eventTypes, isEventType } from '../../events/event-table.ts';
import { filterFor } from '../../operations/handlers/events.ts';
import { type Authenticate, admit, type IsCurrent } from '../admission/auth.ts';
import type { Shares } from '../admission/shares.ts';
import { startEventFeed } from './event-feed.ts';
import { openServerSentEvents, type ServerSentEvents } from './server-sent-events.ts';

/** Serves GET /api/events: server-sent events, resumable by Last-Event-ID (or ?after=N), filtered by ?types=a,b. Returns what ends every stream; readers come back elsewhere. */
export function registerEventStream(
  app: FastifyInstance,
  parts: {
    readonly events: EventLog;
    readonly authenticate: Authenticate;
    readonly isCurrent: IsCurrent;
    /** Tells of keys that were changed or revoked: their streams end. */
    readonly watchKeys: KeyRing['watch'];
    readonly shares: Shares;
  },
): () => void {
  const callersByStream = new Map<ServerSentEvents, Caller>();
  app.route({
    method: 'GET',
    url: '/api/events',
    onRequest: admit(parts.authenticate),
    handler: (request, reply) => {
      const query = readStreamQuery(request.query, request.headers['last-event-id']);
      const release = parts.shares.take(request.caller);
      reply.hijack();
      const { raw } = reply;
      // A key that has ended by its time is noticed with the next event or sign of life.
      const isCurrent = (): boolean => parts.isCurrent(request.caller);
      const stream = openServerSentEvents(raw, isCurrent);
      raw.write('retry: 1000\n\n');
      const endFeed = startEventFeed({
        events: parts.events,
        filter: filterFor(request.caller, query.types),
        after: query.after,
        // Ended, not only silent: the reader comes back and gets what its key allows now.
        sink: { ...stream, write: (event) => (isCurrent() ? stream.write(event) : stream.end()) },
      });
      callersByStream.set(stream, request.caller);
      raw.once('close', () => {
        endFeed();
        release();
        callersByStream.delete(stream);
      });
    },
  });
  const unwatchKeys = parts.watchKeys(() => {
    for (const [stream, caller] of callersByStream) if (!parts.isCurrent(caller)) stream.end();
  });
  return () => {
    unwatchKeys();
    for (const stream of callersByStream.keys()) stream.end();
  };
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
