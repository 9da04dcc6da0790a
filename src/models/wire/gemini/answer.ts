import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, ConversationAnswer, TokenUsage } from '../../../conversation/answer.ts';
import type { JsonObject } from '../../../conversation/conversation.ts';
import { keep, keptOf } from '../../../conversation/conversation.ts';
import { agreeWithCalls } from '../../../conversation/stream-builder.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { compact, countIn, objectIn, objectsIn, textIn } from '../json-fields.ts';
import { createLosses } from '../losses.ts';
import { nameReaderOf, namerOf } from '../stream-reading.ts';
import { fitCall } from '../tool-declarations.ts';
import type { ReadOptions, Written } from '../wire-format.ts';
import { readGeminiPart, writeGeminiParts } from './parts.ts';

const format = 'gemini';

/** Reads a `GenerateContentResponse`. Throws `model-failed` when it is none. */
export function readGeminiAnswer(body: unknown, options: ReadOptions = {}): ConversationAnswer {
  const whole = Array.isArray(body) ? body[0] : body;
  if (!isObject(whole))
    throw new HotcellError('model-failed', 'The answer of the model server is no response of the Gemini format.');
  const { candidates, usageMetadata, modelVersion, responseId, promptFeedback, ...rest } = whole;
  const newId = namerOf(options);
  const [candidate = {}] = objectsIn(candidates);
  const { content, finishReason, index, ...ofCandidate } = candidate;
  const parts = objectsIn(objectIn(content).parts)
    .map((part) => readGeminiPart(part, nameReaderOf(options), finishReason === 'MAX_TOKENS'))
    .map((part) => fitCall(part.type === 'tool-call' && part.id === '' ? { ...part, id: newId('call') } : part, options.request));
  const stop = readGeminiStop(finishReason, promptFeedback);
  return {
    id: textIn(responseId) || newId('gemini'),
    model: textIn(modelVersion) ?? '',
    parts,
    stop: agreeWithCalls(
      stop,
      parts.some(({ type }) => type === 'tool-call'),
    ),
    ...(isObject(usageMetadata) && { usage: readGeminiUsage(usageMetadata) }),
    ...keep(
      format,
      compact({ ...rest, promptFeedback, candidate: Object.keys(ofCandidate).length === 0 ? undefined : ofCandidate }),
    ),
  };
}

const stops: Readonly<Record<string, AnswerStop['kind']>> = {
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
};

export function readGeminiStop(reason: unknown, feedback: unknown): AnswerStop {
  const { blockReason } = objectIn(feedback);
  if (typeof reason !== 'string') return { kind: typeof blockReason === 'string' ? 'content-filter' : 'interrupted' };
  const kind = stops[reason] ?? 'other';
  return kind === 'end' || kind === 'max-tokens' ? { kind } : { kind, native: { format, value: reason } };
}

const reasons: Readonly<Partial<Record<AnswerStop['kind'], string>>> = {
  'max-tokens': 'MAX_TOKENS',
  'context-full': 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  refusal: 'SAFETY',
  'malformed-call': 'MALFORMED_FUNCTION_CALL',
  interrupted: 'OTHER',
  other: 'OTHER',
};

export function writeGeminiStop({ kind, native }: AnswerStop): string {
  return native?.format === format ? native.value : (reasons[kind] ?? 'STOP');
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
export function writeGeminiAnswer(answer: ConversationAnswer, { id }: { id?: string } = {}): Written<JsonObject> {
  const losses = createLosses(format);
  losses.noteKept(answer, 'answer');
  if (answer.stop.sequence !== undefined) losses.note('Which stop sequence was met');
  const { candidate, ...rest } = keptOf(answer, format);
  const content = { role: 'model', parts: writeGeminiParts(answer.parts, 'to-client', losses) };
  const value = compact({
    candidates: [{ content, finishReason: writeGeminiStop(answer.stop), index: 0, ...objectIn(candidate) }],
    usageMetadata: answer.usage && writeGeminiUsage(answer.usage),
    modelVersion: answer.model,
    responseId: id ?? answer.id,
    ...rest,
  });
  return { value, warnings: losses.list };
}
