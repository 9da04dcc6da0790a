import type { FastifyInstance, FastifyReply } from 'fastify';
import { operatorCaller } from '../callers/caller.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { daemonContracts } from '../operations/contracts/daemon.ts';
import type { InvocableOperation } from '../operations/invoke.ts';
import { type Authenticate, admit } from './admission/auth.ts';
import { landingPage } from './landing-page.ts';
import type { MetricGauges, Metrics } from './metrics.ts';
import { describeApi } from './open-api.ts';

/** What the routes beside the operations are made of. */
export interface FixedRouteParts {
  readonly operations: ReadonlyMap<string, InvocableOperation>;
  readonly authenticate: Authenticate;
  readonly metrics: Metrics;
  readonly isReady: () => boolean;
  readonly storageProblem: () => HotcellError | undefined;
}

/** Serves `/`, `/healthz`, `/readyz`, `/openapi.json` to anybody and `/metrics` to admins. */
export function registerFixedRoutes(app: FastifyInstance, parts: FixedRouteParts): void {
  const method = ['GET', 'HEAD'];
  app.route({
    method,
    url: '/',
    handler: (_request, reply) =>
      reply
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
        .type('text/html; charset=utf-8')
        .send(landingPage),
  });
  app.route({ method, url: '/healthz', handler: (_request, reply) => sendJson(reply, { status: 'ok' }) });
  app.route({
    method,
    url: '/readyz',
    handler: (_request, reply) => {
      const status = parts.storageProblem()?.code ?? (parts.isReady() ? 'ready' : 'starting');
      return sendJson(reply.code(status === 'ready' ? 200 : 503), { status });
    },
  });
  app.route({
    method: 'GET',
    url: '/openapi.json',
    handler: async (_request, reply) => {
      const operations = [...parts.operations.values()].map(({ operation }) => operation);
      return sendJson(reply, describeApi(operations, (await readStatus(parts)).version));
    },
  });
  app.route({
    method: 'GET',
    url: '/metrics',
    onRequest: admit(parts.authenticate),
    handler: async ({ caller }, reply) => {
      if (caller.role !== 'admin')
        throw new HotcellError('forbidden', '/metrics needs the role admin; this key has the role caller.');
      const text = parts.metrics.render(await readStatus(parts));
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(text);
    },
  });
}

/** Asked through the table, like any door asks. */
async function readStatus({ operations }: FixedRouteParts): Promise<MetricGauges> {
  const never = new AbortController().signal;
  const answer = await operations.get(daemonContracts.status.name)?.invoke({}, { caller: operatorCaller, signal: never });
  if (isStatus(answer)) return answer;
  throw new HotcellError('internal', 'The operation status.show did not answer with a status.');
}

function isStatus(value: unknown): value is MetricGauges {
  return typeof value === 'object' && value !== null && 'version' in value && 'plugins' in value && 'calls' in value;
}

function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(value));
}
