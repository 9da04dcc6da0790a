import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, ConversationAnswer, TokenUsage } from '../../../conversation/answer.ts';
import { type JsonObject, keep, keptOf } from '../../../conversation/conversation.ts';
import { describeErrors } from '../failures.ts';
import { compact, countIn, objectIn } from '../json-fields.ts';
import { readWhole } from '../reading.ts';
import { describeStops } from '../stops.ts';
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

const stops = describeStops(
  format,
  {
    end_turn: 'end',
    max_tokens: 'max-tokens',
    stop_sequence: 'stop-sequence',
    tool_use: 'tool-calls',
    pause_turn: 'pause',
    refusal: 'refusal',
    model_context_window_exceeded: 'context-full',
  },
  { interrupted: 'max_tokens', 'content-filter': 'refusal' },
);

export function readMessagesStop(reason: unknown, sequence: unknown): AnswerStop {
  const stop = stops.read(reason);
  return typeof sequence === 'string' && stop.native === undefined ? { ...stop, sequence } : stop;
}

export function writeMessagesStop(stop: AnswerStop): JsonObject {
  return { stop_reason: stops.write(stop), stop_sequence: stop.sequence ?? null };
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

export const anthropicErrors = describeErrors({
  words: {
    'invalid-request': 'invalid_request_error',
    unauthenticated: 'authentication_error',
    forbidden: 'permission_error',
    'not-found': 'not_found_error',
    conflict: 'invalid_request_error',
    'too-large': 'request_too_large',
    'rate-limited': 'rate_limit_error',
    overloaded: 'overloaded_error',
    timeout: 'timeout_error',
    'server-error': 'api_error',
  },
  body: ({ message }, type) => ({ type: 'error', error: { type, message } }),
  statusOf: (status, kind) => (kind === 'overloaded' ? 529 : status),
  limitHeader: (what, of) => `anthropic-ratelimit-${of}-${what}`,
  sayReset: (afterMs) => new Date(Date.now() + afterMs).toISOString(),
});
