import type { ConversationAnswer, ModelFailure, StreamEvent } from '../../conversation/answer.ts';
import type { JsonObject } from '../../conversation/conversation.ts';
import type { ConversationRequest } from '../../conversation/request.ts';

export type WireFormatName = 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';

/** What was written, and what had to be left out of it: a sentence each. */
export interface Written<Value> {
  readonly value: Value;
  readonly warnings: readonly string[];
}

/** A request to a provider. `path` goes below the base URL of its API. */
export interface WireRequest {
  readonly path: string;
  readonly body: JsonObject;
}

/** An answer that is no success. */
export interface WireFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** What a format says in the address of a request instead of the body. */
export interface RequestAddress {
  readonly model?: string;
  readonly isStreamed?: boolean;
}

/** What a reader of answers has to know. */
export interface ReadOptions {
  /** The request that is answered: names of tools are turned back into those that it has. */
  readonly request?: ConversationRequest;
  /** Names answers and calls that have no name; a random one by default. */
  readonly newId?: (prefix: string) => string;
}

/** Reads a stream, cut anywhere. Does not throw: what is broken comes as an event. */
export interface StreamReader {
  push(text: string): StreamEvent[];
  /** Nothing more comes. An answer without its end is ended here, as interrupted. */
  end(): StreamEvent[];
}

/** Writes a stream: the text that an event comes to, which may be none. One lifecycle for each writer. */
export interface StreamWriter {
  write(event: StreamEvent): string;
  readonly warnings: readonly string[];
}

/** What a writer of answers may know: the request that is answered, in the format that is written. */
export interface AnswerContext {
  readonly request?: ConversationRequest;
  /** The id that the client is told instead of that of the answer. */
  readonly id?: string;
  /** Seconds since 1970; now by default. */
  readonly createdAt?: number;
}

/**
 * One provider's API, both ways. Reading a request throws `body-invalid`, reading an answer `model-failed`; nothing else throws. What a
 * format says beyond the neutral shapes is kept and written again in the same format.
 */
export interface WireFormat {
  readonly name: WireFormatName;
  /** The type of what `createStreamWriter` writes. */
  readonly streamType: string;
  readRequest(body: unknown, address?: RequestAddress): ConversationRequest;
  writeRequest(request: ConversationRequest): Written<WireRequest>;
  readAnswer(body: unknown, options?: ReadOptions): ConversationAnswer;
  writeAnswer(answer: ConversationAnswer, context?: AnswerContext): Written<JsonObject>;
  createStreamReader(options?: ReadOptions): StreamReader;
  createStreamWriter(context?: AnswerContext): StreamWriter;
  readFailure(status: number, headers: Headers, body: string): ModelFailure;
  writeFailure(failure: ModelFailure): WireFailure;
}
