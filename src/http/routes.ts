import type { Socket } from 'node:net';
import { finished } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Caller } from '../callers/caller.ts';
import { isObject } from '../config/json-object.ts';
import { propertyNames } from '../config/schema-faults.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { type InvocableOperation, propertySchemas } from '../operations/invoke.ts';
import type { HttpBinding, Operation, OperationContext, OperationStream } from '../operations/operation.ts';
import { type Authenticate, type Authenticator, admit, type IsCurrent, refuseEnded } from './admission/auth.ts';
import type { DoorShares } from './admission/shares.ts';
import { toHotcellError } from './problem-reply.ts';
import { AnswerStream } from './streams/answer-stream.ts';

/** What routes are served with. */
export interface RouteParts {
  readonly authenticate: Authenticate;
  readonly isCurrent: IsCurrent;
  readonly isValid: Authenticator['isValid'];
  /** Counts the answers that are streams, and what their readers did not take yet. */
  readonly shares: Pick<DoorShares, 'streams' | 'unread'>;
  readonly log: Logger;
}

const eventStreamType = 'text/event-stream';
const jsonType = 'application/json; charset=utf-8';

/** What an operation knows about an HTTP request. Its signal costs nothing until somebody reads it. */
class HttpContext implements OperationContext {
  readonly caller: Caller;
  readonly cancelSignal: AbortSignal | undefined;
  stream: OperationStream | undefined;
  readonly #reply: FastifyReply;
  #signal: AbortSignal | undefined;

  constructor(caller: Caller, request: FastifyRequest, reply: FastifyReply) {
    this.caller = caller;
    this.#reply = reply;
    this.cancelSignal = request.headers['x-hotcell-cancel-on-disconnect'] === '1' ? this.signal : undefined;
  }

  get signal(): AbortSignal {
    this.#signal ??= watchDisconnect(this.#reply);
    return this.#signal;
  }
}

function watchDisconnect(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply;
  if (raw.destroyed) controller.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** Serves one operation where its contract says. Everything that can be prepared is prepared here, once. */
export function registerOperation(app: FastifyInstance, invocable: InvocableOperation, parts: RouteParts): void {
  const { http, streams } = invocable.operation;
  const readInput = createInputReader(invocable, http);
  const { isForAnonymous = false } = invocable.operation;
  app.route({
    method: http.method,
    url: http.path,
    onRequest: admit(parts.authenticate, { mayBeAnonymous: isForAnonymous }),
    handler: (request, reply) => {
      // The body may have taken its time: what was so when it began need not be so any more.
      if (!parts.isCurrent(request.caller)) throw refuseEnded();
      const context = new HttpContext(request.caller, request, reply);
      if (streams && request.headers.accept?.includes(eventStreamType)) {
        return answerAsStream({ request, reply, context, parts }, () => invocable.invoke(readInput(request), context));
      }
      const result = invocable.invoke(readInput(request), context);
      if (!(result instanceof Promise)) return sendOutput(request, reply, http, result);
      return result.then((output: unknown) => {
        if (!parts.isValid(request.caller)) throw refuseEnded();
        holdUntilAllAreMade(reply.raw.socket);
        return sendOutput(request, reply, http, output);
      });
    },
  });
}

let held: Socket[] = [];

/**
 * Holds what is written to a connection until every answer of this turn is made: calls that were recorded together are answered
 * together, and a reader that was woken for the first answer is awake for the others. Waking it costs more than making an answer.
 */
function holdUntilAllAreMade(socket: Socket | null): void {
  if (socket === null) return;
  if (held.length === 0) process.nextTick(writeHeld);
  socket.cork();
  held.push(socket);
}

function writeHeld(): void {
  const sockets = held;
  held = [];
  for (const socket of sockets) socket.uncork();
}

/** Tells what happens while the operation works; one that did not begin anything answers as ever. */
async function answerAsStream(
  { request, reply, context, parts }: { request: FastifyRequest; reply: FastifyReply; context: HttpContext; parts: RouteParts },
  invoke: () => unknown,
): Promise<FastifyReply> {
  // Held until the reader has all of it or is gone: a call may wait for a person long after, and what a slow reader leaves
  // unsent is in memory.
  finished(reply.raw, parts.shares.streams.take(request.caller));
  const { caller } = request;
  const stream = new AnswerStream(reply, {
    role: caller.role,
    mayHear: () => parts.isCurrent(caller),
    hold: (bytes, cut) => parts.shares.unread.hold(caller, bytes, cut),
  });
  context.stream = stream;
  try {
    const output = await invoke();
    if (!parts.isValid(caller)) throw refuseEnded();
    if (!stream.isOpen) return reply.header('content-type', jsonType).send(JSON.stringify(output));
    stream.answer(output);
  } catch (error) {
    if (!stream.isOpen) throw error;
    stream.problem(toHotcellError(error, parts.log));
  }
  return reply;
}

function createInputReader({ operation }: InvocableOperation, http: HttpBinding): (request: FastifyRequest) => unknown {
  const readQuery = createQueryReader(operation);
  const takesKey = http.method === 'POST' && propertyNames(operation.input).includes('idempotencyKey');
  const pathNames = [...http.path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
  return ({ body, query, params, headers }) => {
    let input: Record<string, unknown>;
    if (http.textBody !== undefined && typeof body === 'string') input = { [http.textBody]: body };
    else if (body === undefined || body === null) input = {};
    else if (isObject(body)) input = body;
    else throw refuseBody(body);
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

function refuseBody(body: unknown): HotcellError {
  // JSON without its header is read as the text that it is.
  const fix = typeof body === 'string' ? { fix: 'Send JSON, with the header Content-Type: application/json.' } : {};
  return new HotcellError('body-invalid', `Expected a JSON object as the request body, got ${nameKind(body)}.`, fix);
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

function nameKind(value: unknown): string {
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** Turns the texts of a query string into the types that the schema of an operation asks for. */
type QueryReader = (query: Readonly<Record<string, unknown>>) => Record<string, unknown>;

type Kind = 'text' | 'number' | 'boolean' | 'list';

/** Looks at the schema once. What cannot be converted stays text, so that the schema's own refusal names it. */
function createQueryReader(operation: Pick<Operation, 'input'>): QueryReader {
  const kinds = new Map(Object.entries(propertySchemas(operation)).map(([name, schema]) => [name, kindOf(schema)]));
  return (query) => {
    const input: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(query)) {
      Object.defineProperty(input, name, {
        value: convert(value, kinds.get(name) ?? 'text'),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return input;
  };
}

function kindOf(schema: object): Kind {
  const type = 'type' in schema ? schema.type : undefined;
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  return type === 'array' ? 'list' : 'text';
}

function convert(value: unknown, kind: Kind): unknown {
  if (kind === 'list') return [value].flat().flatMap((item) => (typeof item === 'string' ? item.split(',') : [item]));
  if (typeof value !== 'string') return value;
  if (kind === 'number') return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  if (kind === 'boolean') return value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value;
  return value;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent it: set before the body is read. */
    caller: Caller;
  }
}
