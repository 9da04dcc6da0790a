import type { ModelFormat } from '../../config/settings/model-formats.ts';
import type { ConversationAnswer, ModelFailure, StreamEvent, TokenUsage } from '../../conversation/answer.ts';
import type { JsonObject } from '../../conversation/conversation.ts';
import type { ConversationRequest } from '../../conversation/request.ts';

/** The name of a format, in the config and in code. */
export type WireFormatName = ModelFormat;

/** What was written, and what had to be left out of it: a sentence each. */
export interface Written<Value> {
  readonly value: Value;
  readonly warnings: readonly string[];
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

/** What the address of a request to the door asks for. */
export interface ReadAddress extends RequestAddress {
  readonly isCount?: boolean;
}

/** A model as a list tells of it. */
export interface ListedModel {
  readonly name: string;
  readonly provider: string;
}

/** What is said of tokens without an answer. */
export interface TokenCounting {
  /** The path of a provider, below its base URL. */
  pathOf(model: string): string;
  /** The request that is counted: a body may have it in a field. */
  requestIn(body: JsonObject): JsonObject;
  write(tokens: number): JsonObject;
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
  /** Whose models speak it: tools may be meant for these. */
  readonly family: string;
  /** Headers that each request to a provider has. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
  /** Headers of clients that say something to providers. */
  readonly clientHeaders: readonly string[];
  /** Fields that bound the length of an answer, the one to write first, and the object of the body in which they stand. */
  readonly boundNames: readonly [string, ...string[]];
  readonly boundsIn?: string;
  /** The field of answers that says what was used. */
  readonly usageName: string;
  /** The options of a streamed request, and the one of them that has a provider tell of the usage, in a chunk of its own. */
  readonly usageOptions?: { readonly field: string; readonly flag: string };
  /** What only the end of a stream has, or an error in its place. */
  readonly endMark: RegExp;
  /** Where providers list their models, below the base URL. */
  readonly listPath: string;
  /** A sign of life in a stream, which clients pass over. */
  readonly ping: string;
  /** Parts of which a client brings back what a provider sealed in them. */
  readonly keepsSeals: 'of-all' | 'of-reasoning' | 'of-none';
  /** An answer has one text, whatever it was made of. */
  readonly hasOneText?: boolean;
  /** A provider's own tools go with no others. */
  readonly nativeToolsStandAlone?: boolean;
  readonly tokenCounting?: TokenCounting;
  /** The path of an answer, below the base URL. */
  pathOf(model: string, isStreamed: boolean): string;
  /** What stands for `*` in the addresses of the door. Throws `not-found`. */
  readAddress?(rest: string): ReadAddress;
  readUsage(usage: JsonObject): TokenUsage;
  writeFailure(failure: ModelFailure): WireFailure;
  /** The headers that tell a client what is left of limits, and when to come back. */
  writeLimits(limits: Pick<ModelFailure, 'retryAfterMs' | 'rateLimits'>): Readonly<Record<string, string>>;
  describeModel(model: ListedModel): JsonObject;
  describeModels(models: readonly ListedModel[]): JsonObject;
  readRequest(body: unknown, address?: RequestAddress): ConversationRequest;
  writeRequest(request: ConversationRequest): Written<JsonObject>;
  readAnswer(body: unknown, options?: ReadOptions): ConversationAnswer;
  writeAnswer(answer: ConversationAnswer, context?: AnswerContext): Written<JsonObject>;
  createStreamReader(options?: ReadOptions): StreamReader;
  createStreamWriter(context?: AnswerContext): StreamWriter;
}
