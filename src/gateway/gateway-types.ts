import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../callers/caller.ts';
import type { AskedBy } from '../models/upstream.ts';
import type { StoredResponse } from './response-store.ts';

/** One request of a client of models, after it is known whose it is. */
export interface GatewayRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: Readonly<Record<string, unknown>>;
  /** Parsed JSON; of a form its bytes. */
  readonly body: unknown;
  readonly caller: Caller;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Responses that one connection alone keeps, by id. */
  readonly local?: Map<string, StoredResponse>;
}

/** What is answered. A stream is read as fast as its client reads. */
export interface GatewayReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string | Uint8Array>;
}

/** For whom, and what for, a model is asked. */
export function askedBy({ caller, signal }: GatewayRequest): AskedBy {
  return { caller, signal, purpose: 'gateway' };
}
