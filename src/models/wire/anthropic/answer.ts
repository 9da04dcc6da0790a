import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, ConversationAnswer, TokenUsage } from '../../../conversation/answer.ts';
import { type JsonObject, keep, keptOf } from '../../../conversation/conversation.ts';
import { compact, countIn, objectIn } from '../json-fields.ts';
import { readWhole } from '../reading.ts';
import type { AnswerContext, ReadOptions, Written } from '../wire-format.ts';
import { writeBody } from '../writing.ts';
import { readBlocks, writeBlocks } from './blocks.ts';

const format = 'anthropic';

/** Reads a `message`. Throws `model-failed` when it is none. */
export function readMessagesAnswer(body: unknown, options: ReadOptions = {}): ConversationAnswer {
  const about = { format, what: 'message of the Anthropic format', prefixes: ['msg', 'toolu'] } as const;
  return readWhole(body, about, options, (whole, readName) => {
    const { id, model, content, stop_reason, stop_sequence, usage, type, role, ...rest } = whole;
    return {
      id,
      model,
      parts: readBlocks(content, readName, stop_reason === 'max_tokens'),
      stop: readMessagesStop(stop_reason, stop_sequence),
      usage: isObject(usage) ? readMessagesUsage(usage) : undefined,
      rest,
    };
  });
}

const stops: Readonly<Record<string, AnswerStop['kind']>> = {
  end_turn: 'end',
  max_tokens: 'max-tokens',
  stop_sequence: 'stop-sequence',
  tool_use: 'tool-calls',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'context-full',
};

export function readMessagesStop(reason: unknown, sequence: unknown): AnswerStop {
  if (typeof reason !== 'string') return { kind: 'interrupted' };
  const kind = stops[reason] ?? 'other';
  if (kind === 'other') return { kind, native: { format, value: reason } };
  return { kind, ...(typeof sequence === 'string' && { sequence }) };
}

const reasons: Readonly<Partial<Record<AnswerStop['kind'], string>>> = {
  'max-tokens': 'max_tokens',
  interrupted: 'max_tokens',
  'stop-sequence': 'stop_sequence',
  'tool-calls': 'tool_use',
  pause: 'pause_turn',
  refusal: 'refusal',
  'content-filter': 'refusal',
  'context-full': 'model_context_window_exceeded',
};

export function writeMessagesStop({ kind, sequence, native }: AnswerStop): JsonObject {
  const stop_reason = native?.format === format ? native.value : (reasons[kind] ?? 'end_turn');
  return { stop_reason, stop_sequence: sequence ?? null };
}

/** What came from caches is counted apart there, and in the sum here. */
export function readMessagesUsage(usage: JsonObject): TokenUsage {
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, ...rest } = usage;
  const [read, written] = [countIn(cache_read_input_tokens), countIn(cache_creation_input_tokens)];
  const { thinking_tokens } = objectIn(rest.output_tokens_details);
  return {
    inputTokens: countIn(input_tokens) + read + written,
    outputTokens: countIn(output_tokens),
    ...(typeof cache_read_input_tokens === 'number' && { cacheReadTokens: read }),
    ...(typeof cache_creation_input_tokens === 'number' && { cacheWriteTokens: written }),
    ...(typeof thinking_tokens === 'number' && { reasoningTokens: countIn(thinking_tokens) }),
    ...keep(format, rest),
  };
}

export function writeMessagesUsage(usage: TokenUsage | undefined): JsonObject {
  if (usage === undefined) return { input_tokens: 0, output_tokens: 0 };
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    ...keptOf(usage, format),
  };
}

/** Writes a `message`. */
export function writeMessagesAnswer(answer: ConversationAnswer, context: AnswerContext = {}): Written<JsonObject> {
  return writeBody(format, 'answer', answer, (losses) =>
    compact({
      id: context.id ?? answer.id,
      type: 'message',
      role: 'assistant',
      model: answer.model,
      content: writeBlocks(answer.parts, 'to-client', losses),
      ...writeMessagesStop(answer.stop),
      usage: writeMessagesUsage(answer.usage),
      ...keptOf(answer, format),
    }),
  );
}
