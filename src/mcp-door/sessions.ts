import { randomUUID } from 'node:crypto';
import {
  type AuthInfo,
  isInitializeRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from '../callers/caller.ts';
import { quotas } from '../config/quotas.ts';
import type { ClientBook } from './client-book.ts';
import { listen, type NewsParts } from './list-news.ts';
import type { OpenServer, ServedClient } from './protocol-server.ts';

/** One session of a client of the older era. */
export interface McpSession {
  readonly id: string;
  readonly caller: Caller;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAtMs: number;
  /** Requests that are not answered yet, its stream of news among them. */
  open: number;
  readonly end: () => void;
}

/** What sessions are made of. */
export interface SessionParts extends NewsParts {
  readonly clients: ClientBook;
  readonly openServer: (client: ServedClient) => OpenServer;
}

const { perCaller, inAll, reserve } = quotas['door.mcpSessions'];
/** A session of which nothing was heard for so long, and that listens to nothing, is over. */
const idleMs = 30 * 60_000;

/** Opens sessions and finds them again, each for its own caller alone. */
export function createSessions(parts: SessionParts) {
  const sessions = new Map<string, McpSession>();

  function find(id: string, caller: Caller): McpSession | undefined {
    const session = sessions.get(id);
    return session?.caller.id === caller.id && caller.isAnonymous !== true ? session : undefined;
  }

  /** Room for one more: of a caller with too many the one goes that was idle longest. */
  function makeRoom(caller: Caller): boolean {
    const now = Date.now();
    for (const session of sessions.values()) if (session.open === 0 && now - session.usedAtMs > idleMs) session.end();
    const own = [...sessions.values()].filter((session) => session.caller.id === caller.id);
    if (own.length >= perCaller) {
      const idle = own.sort((a, b) => Math.sign(a.open) - Math.sign(b.open) || a.usedAtMs - b.usedAtMs);
      idle[0]?.end();
    }
    return sessions.size < (caller.role === 'admin' ? inAll : inAll - reserve);
  }

  async function begin(caller: Caller): Promise<McpSession> {
    const id = randomUUID();
    const { server, watched } = parts.openServer({ caller, session: `mcp-${id}` });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => session.end(),
    });
    const tellers = {
      tools: () => server.sendToolListChanged(),
      prompts: () => server.sendPromptListChanged(),
      resources: () => server.sendResourceListChanged(),
    };
    // A server without lists that change tells nothing.
    const endNews =
      watched &&
      listen(parts, caller, {
        listChanged: (list) => tellers[list](),
        resourceChanged: (uri) => (watched.has(uri) ? server.sendResourceUpdated({ uri }) : undefined),
        told: () => parts.clients.told(caller),
      });
    const session: McpSession = {
      id,
      caller,
      server,
      transport,
      usedAtMs: Date.now(),
      open: 0,
      end() {
        if (!sessions.delete(id)) return;
        endNews?.();
        void server.close();
      },
    };
    await server.connect(transport);
    sessions.set(id, session);
    return session;
  }

  return {
    /** Answers a request of a session, or one that begins a session; its signal aborts when the answer was read or its client is gone. */
    async handle(request: Request, body: unknown, caller: Caller, authInfo: AuthInfo): Promise<Response> {
      const id = request.headers.get('mcp-session-id');
      const known = id === null ? undefined : find(id, caller);
      // Whoever comes with a session that is over must begin a new one: that is what 404 says.
      if (id !== null && known === undefined) return refuse(404, -32001, 'Session not found');
      if (known === undefined && !isInitializeRequest(body))
        return refuse(400, -32000, 'Bad Request: Mcp-Session-Id header is required');
      if (known === undefined && !makeRoom(caller)) return refuse(429, -32000, 'Too many sessions are open; try again later.');
      const session = known ?? (await begin(caller));
      session.usedAtMs = Date.now();
      session.open++;
      const endListening = request.method === 'GET' ? parts.clients.listens(caller, '2025-11-25') : undefined;
      const leave = (): void => {
        session.open--;
        endListening?.();
      };
      try {
        const response = await session.transport.handleRequest(request, { parsedBody: body, authInfo });
        if (known === undefined && !response.ok) session.end();
        request.signal.addEventListener('abort', leave, { once: true });
        return response;
      } catch (error) {
        leave();
        throw error;
      }
    },
    endWhere(isOver: (session: McpSession) => boolean): void {
      for (const session of sessions.values()) if (isOver(session)) session.end();
    },
  };
}

/** A refusal as JSON-RPC has it. */
export function refuse(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
