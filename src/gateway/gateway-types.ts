import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../callers/caller.ts';
import type { JsonObject, Message } from '../conversation/conversation.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import type { AskedBy } from '../models/upstream.ts';
import type { WireFormat } from '../models/wire/wire-format.ts';

/** A response that was kept. */
export interface StoredResponse {
  /** What it went on from. */
  readonly previous?: string | undefined;
  /** What was said before it: all of it when `previous` is absent. */
  readonly input: readonly Message[];
  /** Everything that came of it, calls that the daemon ran included; absent as long as it is not over. */
  readonly output?: readonly Message[];
  /** As the client got it; absent as long as it is not over. */
  readonly response?: JsonObject;
  /** The loop that makes it, and what was asked, without its messages. */
  readonly loopId?: string;
  readonly request?: ConversationRequest;
}

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

/** A request on its way to a model. */
export interface Asked {
  readonly format: WireFormat;
  readonly request: GatewayRequest;
  /** As the client said it. */
  readonly said: ConversationRequest;
  /** With what the client could not bring back. */
  readonly whole: ConversationRequest;
}

/** For whom, and what for, a model is asked. */
export function askedBy({ caller, signal }: GatewayRequest): AskedBy {
  return { caller, signal, purpose: 'gateway' };
}
