import type { FormData } from 'undici';
import type { Caller } from '../callers/caller.ts';
import type { ModelFailure, RateLimit, StreamEvent, TokenUsage } from '../conversation/answer.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import type { WireFormatName } from './wire/wire-format.ts';

/** Where requests for a model go, and how. */
export interface UpstreamTarget {
  /** The name of the provider in the config. */
  readonly provider: string;
  readonly format: WireFormatName;
  /** The paths of the wire format go below it. */
  readonly baseUrl: string;
  /** As the provider knows it. */
  readonly model: string;
  /** Name of the key; none is sent when absent. */
  readonly keyName?: string | undefined;
  /** The header that takes the key: `authorization` as `Bearer`, others bare. */
  readonly keyHeader: string;
  /** Time until the first byte of an answer, and between two of its bytes. */
  readonly timeoutMs: number;
  /** How often this target is asked again after a failure that may pass. */
  readonly maxRetries: number;
}

/** For whom a model is asked, and what for. */
export interface AskedBy {
  readonly caller: Caller;
  readonly purpose: 'gateway' | 'chat' | 'repair' | 'plugin' | 'test';
  /** The tool that asks. */
  readonly tool?: string;
  readonly signal: AbortSignal;
}

/** An answer on its way. */
export interface UpstreamAnswer {
  /** To be read once. Ends with `answer-end` or `answer-failed`; throws only when the signal of the asker aborts. */
  readonly events: AsyncIterable<StreamEvent>;
  /** Who answers, or was asked last; undefined before the first event, and where nobody could be asked. */
  target(): UpstreamTarget | undefined;
  /** False where the answer failed and can have cost nothing. */
  isBilled(): boolean;
  /** What the provider said of its limits; known with the first event. */
  rateLimits(): readonly RateLimit[];
  /** What could not be said in the format of the provider, a sentence each. */
  warnings(): readonly string[];
}

/** A request that goes on as it came, to a provider of the format in which it came. */
export interface AsIsRequest {
  /** Providers of these formats understand it; the first says how its answer tells what it cost. */
  readonly formats: readonly [WireFormatName, ...WireFormatName[]];
  readonly model: string;
  /** The path below the base URL, with the name that the provider has for the model. */
  readonly path: (model: string) => string;
  /** `maxTokens` is a bound that the request has to name because it names none; `isPlain` leaves out what the daemon alone asks for. */
  readonly body: (model: string, maxTokens?: number, isPlain?: boolean) => string | FormData;
  /** Headers of the client that the provider may see. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isStreamed: boolean;
  /** The same as a conversation, for whoever has to look into it. */
  readonly read: () => ConversationRequest;
  /** It names a bound of its answer itself. */
  readonly isBounded: boolean;
  /** It costs nothing, and is not counted. */
  readonly isFree?: boolean;
  /** The daemon asked what the answer cost, the client did not: it gets nothing of that. */
  readonly hidesUsage?: boolean;
}

/** An answer that is passed on as it comes. */
export interface AsIsAnswer {
  readonly status: number;
  /** Those of the provider that mean something to its clients. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be read once; fails when the provider breaks off. */
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly target: UpstreamTarget;
}

/** Where models are asked. */
export interface Upstreams {
  /**
   * Asks the model that `request.model` names. Retries, fall-backs and time-outs happen in here, before the first event is passed on. A
   * failure is an `answer-failed` event, never a throw. What was used is counted in here.
   */
  ask(request: ConversationRequest, by: AskedBy): UpstreamAnswer;
  /** The same without a translation. Undefined where the model, or what it falls back to, speaks another format; or a failure. */
  forward(request: AsIsRequest, by: AskedBy): Promise<AsIsAnswer | ModelFailure | undefined>;
  close(): Promise<void>;
}

/** What one request came to. */
export interface UpstreamUse {
  readonly target: UpstreamTarget;
  /** Undefined where the provider did not tell: then what was set aside counts as used, unless `isBilled` is false. */
  readonly usage: TokenUsage | undefined;
  /** False when nothing can have been used: the request did not leave, or was refused. */
  readonly isBilled: boolean;
  /** A guess at the tokens of the answer, for where the provider did not tell. */
  readonly answerTokens?: number;
  /** The HTTP status, or that of the failure. */
  readonly status: number;
  readonly latencyMs: number;
}

/** Counts what is used. */
export interface UpstreamMeter {
  /**
   * Sets the request aside in the budget of its caller before it leaves, each time that it does. Throws `model-budget-exceeded`.
   * `read` makes the conversation of a request that goes on as it came: only whoever has to know it calls it.
   */
  reserve(read: () => ConversationRequest, target: UpstreamTarget, by: Omit<AskedBy, 'signal'>): UpstreamReservation;
}

/** What was set aside; settled once, whatever happens. */
export interface UpstreamReservation {
  /** The bound that the request has to be sent with when it names none: the caller has a budget that its answer must not pass. */
  readonly maxTokens?: number;
  settle(use: UpstreamUse): void;
}
