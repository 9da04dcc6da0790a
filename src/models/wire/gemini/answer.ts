import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, ConversationAnswer, TokenUsage } from '../../../conversation/answer.ts';
import { type JsonObject, keep, keptOf } from '../../../conversation/conversation.ts';
import { describeErrors, retryInfo } from '../failures.ts';
import { compact, countIn, nonEmpty, objectIn, objectsIn } from '../json-fields.ts';
import { readWhole } from '../reading.ts';
import { describeStops } from '../stops.ts';
import type { AnswerContext, ReadOptions, Written } from '../wire-format.ts';
import { writeBody } from '../writing.ts';
import { readGeminiPart, writeGeminiParts } from './parts.ts';

const format = 'gemini';

/** Reads a `GenerateContentResponse`. Throws `model-failed` when it is none. */
export function readGeminiAnswer(body: unknown, options: ReadOptions = {}): ConversationAnswer {
  const about = { format, what: 'response of the Gemini format', prefixes: ['gemini', 'call'] } as const;
  return readWhole(Array.isArray(body) ? body[0] : body, about, options, (whole, readName) => {
    const { candidates, usageMetadata, modelVersion: model, responseId: id, promptFeedback, ...rest } = whole;
    const { content, finishReason, index, ...ofCandidate } = objectsIn(candidates)[0] ?? {};
    const isCut = finishReason === 'MAX_TOKENS';
    return {
      id,
      model,
      parts: objectsIn(objectIn(content).parts).map((part) => readGeminiPart(part, readName, isCut)),
      stop: readGeminiStop(finishReason, promptFeedback),
      usage: isObject(usageMetadata) ? readGeminiUsage(usageMetadata) : undefined,
      rest: compact({ ...rest, promptFeedback, candidate: nonEmpty(ofCandidate) }),
    };
  });
}

export const geminiStops = describeStops(
  format,
  {
    STOP: 'end',
    MAX_TOKENS: 'max-tokens',
    MALFORMED_FUNCTION_CALL: 'malformed-call',
    UNEXPECTED_TOOL_CALL: 'malformed-call',
    SAFETY: 'content-filter',
    RECITATION: 'content-filter',
    BLOCKLIST: 'content-filter',
    PROHIBITED_CONTENT: 'content-filter',
    SPII: 'content-filter',
    IMAGE_SAFETY: 'content-filter',
    IMAGE_PROHIBITED_CONTENT: 'content-filter',
    IMAGE_RECITATION: 'content-filter',
  },
  { 'context-full': 'MAX_TOKENS', refusal: 'SAFETY', interrupted: 'OTHER', other: 'OTHER' },
);

/** A prompt may be blocked before there is an answer. */
export function readGeminiStop(reason: unknown, feedback: unknown): AnswerStop {
  const isBlocked = typeof reason !== 'string' && typeof objectIn(feedback).blockReason === 'string';
  return isBlocked ? { kind: 'content-filter' } : geminiStops.read(reason);
}

/** What was thought is counted apart there, and in the sum here. */
export function readGeminiUsage(usage: JsonObject): TokenUsage {
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, cachedContentTokenCount, ...others } = usage;
  const { toolUsePromptTokenCount, totalTokenCount, ...rest } = others;
  return {
    inputTokens: countIn(promptTokenCount) + countIn(toolUsePromptTokenCount),
    outputTokens: countIn(candidatesTokenCount) + countIn(thoughtsTokenCount),
    ...(typeof cachedContentTokenCount === 'number' && { cacheReadTokens: countIn(cachedContentTokenCount) }),
    ...(typeof thoughtsTokenCount === 'number' && { reasoningTokens: countIn(thoughtsTokenCount) }),
    ...keep(format, rest),
  };
}

export function writeGeminiUsage(usage: TokenUsage): JsonObject {
  const { inputTokens, outputTokens, reasoningTokens, cacheReadTokens } = usage;
  return compact({
    promptTokenCount: inputTokens,
    candidatesTokenCount: Math.max(0, outputTokens - (reasoningTokens ?? 0)),
    thoughtsTokenCount: reasoningTokens,
    cachedContentTokenCount: cacheReadTokens,
    totalTokenCount: inputTokens + outputTokens,
    ...keptOf(usage, format),
  });
}

/** Writes a `GenerateContentResponse`. */
export function writeGeminiAnswer(answer: ConversationAnswer, { id }: AnswerContext = {}): Written<JsonObject> {
  return writeBody(format, 'answer', answer, (losses) => {
    if (answer.stop.sequence !== undefined) losses.note('Which stop sequence was met');
    const { candidate, ...rest } = keptOf(answer, format);
    const content = { role: 'model', parts: writeGeminiParts(answer.parts, 'to-client', losses) };
    return compact({
      candidates: [{ content, finishReason: geminiStops.write(answer.stop), index: 0, ...objectIn(candidate) }],
      usageMetadata: answer.usage && writeGeminiUsage(answer.usage),
      modelVersion: answer.model,
      responseId: id ?? answer.id,
      ...rest,
    });
  });
}

export const geminiErrors = describeErrors({
  words: {
    'invalid-request': 'INVALID_ARGUMENT',
    unauthenticated: 'UNAUTHENTICATED',
    forbidden: 'PERMISSION_DENIED',
    'not-found': 'NOT_FOUND',
    conflict: 'ABORTED',
    'too-large': 'INVALID_ARGUMENT',
    'rate-limited': 'RESOURCE_EXHAUSTED',
    overloaded: 'UNAVAILABLE',
    timeout: 'DEADLINE_EXCEEDED',
    'server-error': 'INTERNAL',
  },
  body({ message, retryAfterMs }, word, code) {
    const details = retryAfterMs === undefined ? undefined : [{ '@type': retryInfo, retryDelay: `${retryAfterMs / 1000}s` }];
    return { error: compact({ code, message, status: word, details }) };
  },
  statusOf: (status) => (status === 529 ? 503 : status),
});
