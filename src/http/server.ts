import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { Caller } from '../callers/caller.ts';
import type { Config } from '../config/config-types.ts';
import { quotas } from '../config/quotas.ts';
import { maxInputDepth, nestsDeeper, nestsTooDeep } from '../config/read/json-nesting.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { describeJsonFault } from '../errors/json-fault.ts';
import type { EventLog } from '../events/event.ts';
import { createResourceWatches, type ResourceWatches } from '../events/resource-watches.ts';
import type { GatewayParts } from '../gateway/gateway.ts';
import type { ModelTotals } from '../models/meter.ts';
import { mcpClientContracts } from '../operations/contracts/mcp.ts';
import { prepareOperations } from '../operations/invoke.ts';
import { implement, type Operation } from '../operations/operation.ts';
import { registerA2aRoute } from './a2a-route.ts';
import type { Authenticate, Authenticator, IsCurrent } from './admission/auth.ts';
import { createConnectionBook, fitConnections } from './admission/connection-count.ts';
import { registerDoorAdmission } from './admission/door-admission.ts';
import { createHostCheck, refuseRepeatedHeaders } from './admission/host-check.ts';
import { createDoorShares, createShares } from './admission/shares.ts';
import { createTicketOffice } from './admission/tickets.ts';
import { maxBodyBytes } from './body-limits.ts';
import { registerFixedRoutes } from './fixed-routes.ts';
import { registerGatewayRoutes } from './gateway-route.ts';
import { registerWebSocket } from './json-rpc/web-socket.ts';
import { registerMcpRoute } from './mcp-route.ts';
import { createMetrics, describeModelTotals } from './metrics.ts';
import { isModelPath, type KnownRoute, refuseUnknownRoute } from './not-found.ts';
import { answerClientError, formatProblem, problemType, toHotcellError } from './problem-reply.ts';
import { registerResponsesSocket } from './responses-socket.ts';
import { type RouteParts, registerOperation } from './routes.ts';
import { registerEventStream } from './streams/event-stream.ts';
import { registerUnreadAnswers } from './streams/unread-answers.ts';

/** What the HTTP door is made of. */
export interface HttpServerParts {
  readonly config: Pick<Config, 'host' | 'port' | 'http'>;
  readonly operations: readonly Operation[];
  readonly events: EventLog;
  /** Told what clients of MCP watch. */
  readonly watches?: ResourceWatches;
  readonly authenticate: Authenticate;
  readonly isCurrent: IsCurrent;
  readonly isValid: Authenticator['isValid'];
  readonly watchKeys: Authenticator['watchKeys'];
  /** The admin token of this daemon. */
  readonly adminToken: string;
  readonly version: string;
  readonly log: Logger;
  /** What clients of models are served with; they are not when it is absent. */
  readonly gateway?: Omit<GatewayParts, 'operations' | 'events' | 'now'>;
  /** What models were used for since the start. */
  readonly modelTotals?: () => ReadonlyMap<string, ModelTotals>;
  /** False as long as plugins load; always ready when absent. */
  readonly isReady?: () => boolean;
  /** Why nothing can be recorded now; never when absent. */
  readonly storageProblem?: () => HotcellError | undefined;
  /** Stands in for the half minute in which a WebSocket must answer a ping. */
  readonly pingEveryMs?: number;
}

/** A listening server. */
export interface HttpServer {
  readonly url: string;
  /** Takes no new request, ends streams and connections, lets running requests end for at most ten seconds. */
  close(): Promise<void>;
}

const maxPathParameterLength = 512;
const requestTimeoutMs = 60_000;
/** Headers that trickle in hold a connection no longer than this. */
const headersTimeoutMs = 10_000;
const checkConnectionsEveryMs = 5_000;
const pingEveryMs = 30_000;
const closeWithinMs = 10_000;

/** Serves every operation over HTTP and WebSocket. Throws `port-in-use` when it cannot listen. */
export async function startHttpServer(parts: HttpServerParts): Promise<HttpServer> {
  const { config, authenticate, isCurrent, isValid, watchKeys, adminToken, version, events, log } = parts;
  const app = createApp(log);
  const { maxAnonymous, ...fitting } = fitConnections();
  const shares = createDoorShares(fitting);
  const connections = createConnectionBook(app.server, shares.connections, maxAnonymous);
  const tickets = createTicketOffice(shares.tickets);
  // What only a door knows it answers itself, at every door.
  const listMcpClients = implement(mcpClientContracts.list, async () => {
    const items = [...(await mcp.list()), ...(await management.list())];
    return { items, total: items.length };
  });
  const operations = prepareOperations([...parts.operations, tickets.operation, listMcpClients]);
  const metrics = createMetrics(events, () => describeModelTotals(parts.modelTotals?.() ?? new Map()));

  const routes: KnownRoute[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, path: url });
  });
  const checkHost = createHostCheck([config.host, ...config.http.allowedHosts]);
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, raw } = request;
    // Node lets go of a connection that asks for an upgrade: whoever answers it in plain HTTP must end it.
    if (headers.upgrade !== undefined) reply.raw.once('finish', () => raw.socket.destroySoon());
    refuseRepeatedHeaders(raw);
    checkHost(headers.host, headers.origin);
    done();
  });
  registerDoorAdmission(app, { connections, shares });
  registerUnreadAnswers(app, shares.unread);
  app.setErrorHandler((error, request, reply) => sendProblem(reply, toHotcellError(error, log), request.caller?.role));
  app.setNotFoundHandler((request, reply) => {
    const refusal = refuseUnknownRoute(request.method, request.url, routes);
    return models && isModelPath(request.url) ? models.refuse(request, reply, refusal) : sendProblem(reply, refusal);
  });

  const endStreams = registerEventStream(app, { events, authenticate, isCurrent, watchKeys, shares: shares.streams });
  const keyed = { authenticate, isCurrent, watchKeys };
  const answers = createShares(quotas['gateway.answers']);
  const models =
    parts.gateway &&
    registerGatewayRoutes(app, { ...parts.gateway, ...keyed, operations, events, now: Date.now, shares: answers, log });
  let endResponses = (): void => {};
  const endSockets = await registerWebSocket(app, {
    more(scope) {
      if (models) endResponses = registerResponsesSocket(scope, { ...keyed, routes: models, shares, answers });
    },
    operations,
    events,
    authenticate,
    isCurrent,
    watchKeys,
    tickets,
    shares,
    connections,
    maxMessageBytes: maxBodyBytes,
    pingEveryMs: parts.pingEveryMs ?? pingEveryMs,
    log,
  });
  registerFixedRoutes(app, {
    operations,
    authenticate,
    metrics,
    isReady: parts.isReady ?? (() => true),
    storageProblem: parts.storageProblem ?? (() => undefined),
  });
  await registerOperations(app, [...operations.values()], { authenticate, isCurrent, isValid, shares, log });

  const { watches = createResourceWatches() } = parts;
  const doorParts = { operations, events, watches, authenticate, isCurrent, watchKeys, adminToken, version, shares, log };
  const mcp = registerMcpRoute(app, { ...doorParts, url: '/mcp', surface: 'tools' });
  const management = registerMcpRoute(app, { ...doorParts, url: '/mcp/manage', surface: 'management' });

  const a2a = registerA2aRoute(app, { ...doorParts, isValid });

  const url = await listen(app, config);
  return {
    url,
    async close() {
      endStreams();
      endSockets();
      mcp.close();
      management.close();
      endResponses();
      models?.close();
      a2a.close();
      metrics.close();
      connections.endUnused();
      const lastCall = setTimeout(() => app.server.closeAllConnections(), closeWithinMs);
      await app.close();
      clearTimeout(lastCall);
    },
  };
}

function createApp(log: Logger): FastifyInstance {
  const app = Fastify({
    // A line for every request would cost more than the request; faults are logged where they become problems.
    logger: false,
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: checkConnectionsEveryMs },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: maxPathParameterLength },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, _request, reply) => sendProblem(reply, toHotcellError(error, log)),
  });
  app.decorateRequest('caller');
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    // Clients send the header also where there is nothing to say.
    if (body === '') return done(null, undefined);
    const text = String(body);
    if (nestsDeeper(text, maxInputDepth)) return done(new HotcellError('body-invalid', nestsTooDeep), undefined);
    parseJson(request, text, (error, value) => {
      if (!error) return done(null, value);
      // A key that reaches for prototypes is JSON, and refused all the same.
      done(new HotcellError('body-invalid', `The request body ${describeJsonFault(text)}.`), undefined);
    });
  });
  return app;
}

async function registerOperations(
  app: FastifyInstance,
  operations: Parameters<typeof registerOperation>[1][],
  parts: RouteParts,
): Promise<void> {
  for (const invocable of operations) {
    if (invocable.operation.http.textBody === undefined) registerOperation(app, invocable, parts);
  }
  await app.register(async (scope) => {
    // Here any body is text, whatever a client calls it, but JSON.
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    scope.removeContentTypeParser('text/plain');
    for (const invocable of operations) {
      if (invocable.operation.http.textBody !== undefined) registerOperation(scope, invocable, parts);
    }
  });
}

function sendProblem(reply: FastifyReply, error: HotcellError, role?: Caller['role']): FastifyReply {
  if (error.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer realm="hotcell"');
  if (error.status === 429) reply.header('retry-after', String(readRetryAfter(error)));
  return reply
    .code(error.status === 200 ? 500 : error.status)
    .type(problemType)
    .send(formatProblem(error, role));
}

/** Whole seconds, as the header wants them. */
function readRetryAfter({ facts }: HotcellError): number {
  return typeof facts.retryAfterMs === 'number' ? Math.max(1, Math.ceil(facts.retryAfterMs / 1000)) : 1;
}

async function listen(app: FastifyInstance, { host, port }: Pick<Config, 'host' | 'port' | 'http'>): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    await app.close();
    if (!(error instanceof Error) || !('code' in error)) throw error;
    if (error.code === 'EADDRINUSE') {
      throw new HotcellError('port-in-use', `Port ${port} of ${host} is used by another program.`, { cause: error });
    }
    throw new HotcellError('config-invalid', `Cannot listen on ${host}:${port} (${String(error.code)}).`, {
      fix: 'Choose another address: --host H --port N.',
      cause: error,
    });
  }
}
