import type { JsonObject, Kept, Message, TextPart } from './conversation.ts';

/** A tool as a model is told of it. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  readonly isStrict?: boolean;
  /** The tool takes a text instead of JSON. */
  readonly isFreeText?: boolean;
  readonly kept?: Kept;
}

/** A tool that the provider runs itself; only its own wire format knows it. */
export interface NativeTool {
  readonly format: string;
  readonly value: JsonObject;
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string }
  /** One of these, or also none of them (`auto`). */
  | { readonly kind: 'some'; readonly names: readonly string[]; readonly mode: 'auto' | 'required' };

export type ResponseShape =
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }
  | {
      readonly kind: 'json-schema';
      readonly schema: JsonObject;
      readonly name?: string;
      readonly description?: string;
      readonly isStrict?: boolean;
    };

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly stopSequences?: readonly string[];
}

/** How much a model may think before it answers. */
export interface ReasoningWish {
  /** `none`, `minimal`, `low`, `medium`, `high` and what providers add. */
  readonly effort?: string;
  readonly maxTokens?: number;
  readonly isShown?: boolean;
}

/** What a model is asked. */
export interface ConversationRequest {
  readonly model: string;
  /** What is said before the messages; messages of the role `system` may follow among them. */
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
  readonly nativeTools: readonly NativeTool[];
  readonly toolChoice?: ToolChoice;
  readonly mayCallInParallel?: boolean;
  readonly sampling: Sampling;
  readonly reasoning?: ReasoningWish;
  readonly responseShape?: ResponseShape;
  readonly maxTokens?: number;
  readonly isStreamed: boolean;
  readonly metadata?: JsonObject;
  /** Who asks, for the provider's own records. */
  readonly endUser?: string;
  /** The id of the answer that this request goes on from. */
  readonly previousAnswerId?: string;
  readonly kept?: Kept;
}

/** What the client runs, or has its provider run, by its names; tools of providers may have one in their own words. */
export function namesOfTools({ tools, nativeTools }: Pick<ConversationRequest, 'tools' | 'nativeTools'>): Set<string> {
  const native = nativeTools.flatMap(({ value: { name } }) => (typeof name === 'string' ? [name] : []));
  return new Set([...tools.map(({ name }) => name), ...native]);
}
