import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../callers/caller.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { type InvocableOperation, inputProperties } from '../operations/invoke.ts';
import type { HttpBinding } from '../operations/operation.ts';
import type { Authenticate } from './auth.ts';
import { createQueryReader } from './query.ts';
import { HttpContext } from './request-context.ts';

const jsonType = 'application/json; charset=utf-8';
const nobody: Caller = Object.freeze({ id: 'anonymous', role: 'caller' });

/** Serves one operation where its contract says. Everything that can be prepared is prepared here, once. */
export function registerOperation(app: FastifyInstance, invocable: InvocableOperation, authenticate: Authenticate): void {
  const { http, role } = invocable.operation;
  const readInput = createInputReader(invocable, http);
  const needsToken = role !== 'anyone';
  const { isForStrangers = false } = invocable.operation;
  app.route({
    method: http.method,
    url: http.path,
    onRequest: (request, _reply, done) => {
      // Before the body is read: a stranger's megabytes are not worth parsing.
      const { authorization } = request.headers;
      const caller = isForStrangers ? authenticate(authorization, request.ip) : authenticate(authorization);
      if (caller === undefined && needsToken) return done(refuseAnonymous(authorization));
      request.caller = caller ?? nobody;
      done();
    },
    handler: (request, reply) => {
      const context = new HttpContext(request.caller, request, reply);
      const result = invocable.invoke(readInput(request), context);
      if (result instanceof Promise) return result.then((output: unknown) => sendOutput(request, reply, http, output));
      return sendOutput(request, reply, http, result);
    },
  });
}

/** The refusal of a request without a token, or with one that nobody has. */
export function refuseAnonymous(authorization: string | undefined): HotcellError {
  const got = authorization === undefined ? 'none' : 'one that is not known, or was revoked';
  return new HotcellError('unauthenticated', `Expected a token or key in the Authorization header, got ${got}.`);
}

function createInputReader({ operation }: InvocableOperation, http: HttpBinding): (request: FastifyRequest) => unknown {
  const readQuery = createQueryReader(operation);
  const takesKey = http.method === 'POST' && inputProperties(operation).includes('idempotencyKey');
  const pathNames = [...http.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  return ({ body, query, params, headers }) => {
    let input: Record<string, unknown>;
    if (http.textBody !== undefined && typeof body === 'string') input = { [http.textBody]: body };
    else if (body === undefined || body === null) input = {};
    else if (isObject(body)) input = body;
    else throw new HotcellError('body-invalid', `Expected a JSON object as the request body, got ${nameKind(body)}.`);
    if (hasQuery(query)) input = Object.assign(readQuery(query), input);
    if (http.ifMatch !== undefined && headers['if-match'] !== undefined) {
      input[http.ifMatch] = headers['if-match'].replace(/^(?:W\/)?"(.*)"$/, '$1');
    }
    const key = headers['idempotency-key'];
    if (takesKey && typeof key === 'string' && input.idempotencyKey === undefined) input.idempotencyKey = key;
    // The path names the thing; a body that names another must not win.
    if (isObject(params)) for (const name of pathNames) input[name] = params[name];
    return input;
  };
}

function sendOutput(request: FastifyRequest, reply: FastifyReply, http: HttpBinding, output: unknown): FastifyReply {
  // Whoever asks for JSON alone gets the whole output.
  if (http.textResult !== undefined && request.headers.accept !== 'application/json' && isObject(output)) {
    if (http.etag !== undefined) reply.header('etag', `"${String(output[http.etag])}"`);
    return reply.type('text/plain; charset=utf-8').send(String(output[http.textResult]));
  }
  return reply.header('content-type', jsonType).send(JSON.stringify(output));
}

function hasQuery(query: unknown): query is Record<string, unknown> {
  if (typeof query !== 'object' || query === null) return false;
  // Cheaper than Object.keys, and nearly every request has none.
  for (const _ in query) return true;
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameKind(value: unknown): string {
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
