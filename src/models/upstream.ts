import type { Caller } from '../callers/caller.ts';
import type { RateLimit, StreamEvent, TokenUsage } from '../conversation/answer.ts';
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
  readonly authHeader: string;
  /** Sent with every request, besides the key. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
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
  /** Who answers; undefined before the first event, and where nobody could be asked. */
  target(): UpstreamTarget | undefined;
  /** What the provider said of its limits; known with the first event. */
  rateLimits(): readonly RateLimit[];
}

/** Where models are asked. */
export interface Upstreams {
  /**
   * Asks the model that `request.model` names. Retries, fall-backs and time-outs happen in here, before the first event is passed on. A
   * failure is an `answer-failed` event, never a throw. What was used is counted in here.
   */
  ask(request: ConversationRequest, by: AskedBy): UpstreamAnswer;
}

/** What one request came to. */
export interface UpstreamUse {
  readonly target: UpstreamTarget;
  /** Undefined where the provider did not tell: then what was set aside counts as used, unless `isBilled` is false. */
  readonly usage: TokenUsage | undefined;
  /** False when nothing can have been used: the request did not leave, or was refused. */
  readonly isBilled: boolean;
  /** The HTTP status, or that of the failure. */
  readonly status: number;
  readonly latencyMs: number;
}

/** Counts what is used. */
export interface UpstreamMeter {
  /** Sets the request aside in the budget of its caller before it leaves, each time that it does. Throws `model-budget-exceeded`. */
  reserve(request: ConversationRequest, target: UpstreamTarget, by: Omit<AskedBy, 'signal'>): UpstreamReservation;
}

/** What was set aside; settled once, whatever happens. */
export interface UpstreamReservation {
  /** The bound that the request has to be sent with when it names none: the caller has a budget that its answer must not pass. */
  readonly maxTokens?: number;
  settle(use: UpstreamUse): void;
}
