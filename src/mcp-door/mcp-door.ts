import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type ServerEvent,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import type { Caller } from '../callers/caller.ts';
import { isObject } from '../config/json-object.ts';
import type { EventLog } from '../events/event.ts';
import type { ResourceWatches } from '../events/resource-watches.ts';
import { createAsk } from '../operations/ask.ts';
import { openToolBooks } from '../operations/calling/tool-book.ts';
import type { InvocableOperation } from '../operations/invoke.ts';
import { maxUriChars } from '../units/uri-template.ts';
import { createClientBook } from './client-book.ts';
import { listen } from './list-news.ts';
import { createManagementServer } from './management.ts';
import { findHeaderMismatch } from './param-headers.ts';
import { maxWatched, type OpenServer, openProtocolServer, type ServedClient } from './protocol-server.ts';
import { createStateCodec } from './request-state.ts';
import { createSessions, refuse } from './sessions.ts';
import { createWaitingCalls } from './waiting-calls.ts';

/** What the MCP door is made of. */
export interface McpDoorParts {
  readonly version: string;
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly events: Pick<EventLog, 'subscribe'>;
  /** Told what clients watch. */
  readonly watches: ResourceWatches;
  /** Seals what clients hand back. */
  readonly adminToken: string;
  /** False when the key of a caller was changed, revoked or has ended. */
  readonly isCurrent: (caller: Caller) => boolean;
  /** Calls back whenever somebody may not be current any more, until the returned function is called. */
  readonly watchKeys: (changed: () => void) => () => void;
  readonly log: Logger;
  /** What is served: the tools, prompts and resources of units, or the operations of the daemon. */
  readonly surface: 'tools' | 'management';
  /** Stands in for the time that a request is held for an answer from elsewhere. */
  readonly holdMs?: number;
}

/** Of the revision: headers and body disagree. */
const headerMismatch = -32020;
const newEra = '2026-07-28';
/** Clients give up after a minute. */
const holdMs = 45_000;

/** Speaks MCP in both of its eras: with sessions (2025-11-25) and without (2026-07-28). */
export type McpDoor = ReturnType<typeof createMcpDoor>;

/** Opens the door on the operations of a daemon. */
export function createMcpDoor({ operations, events, adminToken, isCurrent, watchKeys, surface, ...rest }: McpDoorParts) {
  const ask = createAsk(operations);
  const books = openToolBooks(ask, events);
  const parts = { holdMs, ...rest, ask, books, codec: createStateCodec(adminToken), waiting: createWaitingCalls(), events };
  const clients = createClientBook();
  const openServer = (client: ServedClient): OpenServer =>
    surface === 'management'
      ? { server: createManagementServer({ ...rest, operations }, client.caller) }
      : openProtocolServer(parts, client);
  const sessions = createSessions({ events, clients, openServer });
  const handlers = new Map<Caller, McpHttpHandler>();

  /** Each caller has one of its own: what it is told of, and how much it listens, is counted by itself. */
  function handlerOf(caller: Caller): McpHttpHandler {
    const known = handlers.get(caller);
    if (known !== undefined) return known;
    const handler = createMcpHandler(() => openServer({ caller }).server, {
      legacy: 'reject',
      bus: createBus(caller),
      onerror: (error) => rest.log.debug({ err: error, caller: caller.id }, 'an MCP request was refused'),
    });
    // Of callers without a token every request is another one.
    if (caller.isAnonymous !== true) handlers.set(caller, handler);
    return handler;
  }

  /** Listens to the daemon as long as a client of the caller does. */
  function createBus(caller: Caller): ServerEventBus {
    const listeners = new Set<(event: ServerEvent) => void>();
    let end: (() => void) | undefined;
    const publish = (event: ServerEvent): void => {
      for (const listener of listeners) listener(event);
    };
    return {
      publish,
      subscribe(listener) {
        listeners.add(listener);
        end ??= listen(parts, caller, {
          listChanged: (list) => publish({ kind: `${list}_list_changed` }),
          resourceChanged: (uri) => publish({ kind: 'resource_updated', uri }),
          told: () => clients.told(caller),
        });
        const endListening = clients.listens(caller, '2026-07-28');
        return () => {
          listeners.delete(listener);
          endListening();
          if (listeners.size > 0) return;
          end?.();
          end = undefined;
        };
      },
    };
  }

  /** The refusal of a call whose headers say something else than its arguments. */
  async function findMismatch(request: Request, body: unknown, caller: Caller): Promise<Response | undefined> {
    if (!isObject(body) || body.method !== 'tools/call' || !isObject(body.params)) return undefined;
    const { name, arguments: args } = body.params;
    const view = typeof name === 'string' ? (await books.read(caller)).find(name) : undefined;
    const mismatch = isObject(view?.input) ? findHeaderMismatch(view.input, args, request.headers) : undefined;
    if (mismatch === undefined) return undefined;
    const error = { code: headerMismatch, message: `Bad Request: ${mismatch}.` };
    return Response.json({ jsonrpc: '2.0', id: body.id ?? null, error }, { status: 400 });
  }

  function watchAsLongAs(signal: AbortSignal, uris: readonly string[]): void {
    if (signal.aborted || uris.length === 0) return;
    const ends = uris.map((uri) => rest.watches.watch(uri));
    signal.addEventListener('abort', () => ends.forEach((end) => void end()), { once: true });
  }

  function endHandlers(isOver: (caller: Caller) => boolean): void {
    for (const [caller, handler] of handlers) {
      if (!isOver(caller)) continue;
      handlers.delete(caller);
      void handler.close();
    }
  }

  // Whoever comes back gets what the key allows now.
  const unwatchKeys = watchKeys(() => {
    sessions.endWhere(({ caller }) => !isCurrent(caller));
    endHandlers((caller) => !isCurrent(caller));
  });
  return {
    /** Answers one HTTP request of a caller; `body` is what it brought, parsed. Its signal aborts when its answer is over. */
    async handle(request: Request, body: unknown, caller: Caller): Promise<Response> {
      // The protocol had batches once; whoever sends one gets no answer that it could not read.
      if (Array.isArray(body)) return refuse(400, -32600, 'Invalid Request: send one message at a time.');
      const authInfo: AuthInfo = { token: '', clientId: caller.id, scopes: [] };
      // Whoever names the newer revision means it; all others the library looks at.
      const isOlder = request.headers.get('mcp-protocol-version') !== newEra && (await isLegacyRequest(request, body));
      clients.note(caller, isOlder ? '2025-11-25' : '2026-07-28', body);
      if (isOlder) return sessions.handle(request, body, caller, authInfo);
      const mismatch = surface === 'tools' ? await findMismatch(request, body, caller) : undefined;
      if (mismatch !== undefined) return mismatch;
      if (surface === 'tools') watchAsLongAs(request.signal, listWatched(body));
      return handlerOf(caller).fetch(request, { authInfo, parsedBody: body });
    },
    /** Who spoke with it lately. */
    list: clients.list,
    close(): void {
      books.close();
      unwatchKeys();
      sessions.endWhere(() => true);
      endHandlers(() => true);
    },
  };
}

/** The resources of which a stream of news is to tell. */
function listWatched(body: unknown): readonly string[] {
  if (!isObject(body) || body.method !== 'subscriptions/listen' || !isObject(body.params)) return [];
  const { notifications } = body.params;
  const uris: unknown = isObject(notifications) ? notifications.resourceSubscriptions : undefined;
  if (!Array.isArray(uris)) return [];
  return uris.slice(0, maxWatched).filter((uri) => typeof uri === 'string' && uri.length <= maxUriChars);
}
