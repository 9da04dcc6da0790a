import type { Kept, Part } from './conversation.ts';

/** Why an answer ended. `interrupted` means that the stream ended without a reason. */
export type AnswerStop = {
  readonly kind:
    | 'end'
    | 'tool-calls'
    | 'max-tokens'
    | 'stop-sequence'
    | 'content-filter'
    | 'refusal'
    | 'pause'
    | 'context-full'
    | 'malformed-call'
    | 'interrupted'
    | 'other';
  readonly sequence?: string;
  /** The provider's own word, where its format has several for the same. */
  readonly native?: { readonly format: string; readonly value: string };
};

/** What an answer cost. `inputTokens` counts what came from caches too, `outputTokens` what was thought. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  readonly kept?: Kept;
}

/** What is left of a limit, as the provider said. */
export interface RateLimit {
  readonly of: 'requests' | 'tokens' | 'input-tokens' | 'output-tokens';
  readonly limit?: number;
  readonly remaining?: number;
  readonly resetAfterMs?: number;
}

/** A request that a provider did not answer, or an answer that it broke off. */
export interface ModelFailure {
  readonly kind:
    | 'invalid-request'
    | 'unauthenticated'
    | 'forbidden'
    | 'not-found'
    | 'conflict'
    | 'too-large'
    | 'rate-limited'
    | 'overloaded'
    | 'timeout'
    | 'server-error';
  readonly status: number;
  readonly message: string;
  /** What helps, where the daemon itself refused; `message` ends with it. */
  readonly fix?: string;
  /** The provider's own word. */
  readonly code?: string;
  readonly param?: string;
  readonly retryAfterMs?: number;
  readonly rateLimits?: readonly RateLimit[];
}

/** What a model answered. */
export interface ConversationAnswer {
  readonly id: string;
  readonly model: string;
  readonly parts: readonly Part[];
  readonly stop: AnswerStop;
  readonly usage?: TokenUsage;
  /** The answer was broken off; what came before is in `parts`. */
  readonly failure?: ModelFailure;
  readonly kept?: Kept;
}

/** To which text of a part a piece belongs: its own, one of its summaries, or its data (base64). */
export type DeltaChannel = 'text' | 'data' | { readonly summary: number };

/** The events of one type. */
export type EventOf<Type extends StreamEvent['type']> = Extract<StreamEvent, { type: Type }>;

/**
 * One event of a streamed answer. `answer-start` comes first and once; `answer-end` or `answer-failed` comes last and once. Every
 * index is started once, in order, and ended once, before the last event; parts may overlap. The pieces of a part make up its final text, except
 * where `part-end` has a warning: then what it brings counts.
 */
export type StreamEvent =
  | {
      readonly type: 'answer-start';
      readonly id: string;
      readonly model: string;
      readonly usage?: TokenUsage;
      readonly kept?: Kept;
    }
  | { readonly type: 'part-start'; readonly index: number; readonly part: Part }
  | { readonly type: 'part-delta'; readonly index: number; readonly text: string; readonly channel: DeltaChannel }
  | { readonly type: 'part-end'; readonly index: number; readonly part: Part; readonly warning?: string }
  /** An event that only one format knows; `index` is the part that it belongs to. */
  | { readonly type: 'native-event'; readonly format: string; readonly value: unknown; readonly index?: number }
  | { readonly type: 'answer-end'; readonly stop: AnswerStop; readonly usage?: TokenUsage; readonly kept?: Kept }
  | { readonly type: 'answer-failed'; readonly failure: ModelFailure; readonly usage?: TokenUsage };
