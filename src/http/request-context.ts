import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../callers/caller.ts';
import type { OperationContext, OperationStream } from '../operations/operation.ts';

/** What an operation knows about an HTTP request. Its signal costs nothing until somebody reads it. */
export class HttpContext implements OperationContext {
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

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent it: set before the body is read. */
    caller: Caller;
  }
}
