import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, ConversationAnswer, TokenUsage } from '../../../conversation/answer.ts';
import type { JsonObject, Part } from '../../../conversation/conversation.ts';
import { keep, keptOf } from '../../../conversation/conversation.ts';
import { agreeWithCalls } from '../../../conversation/stream-builder.ts';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { compact, countIn, nonEmpty, objectIn, objectsIn, textIn } from '../json-fields.ts';
import { createLosses } from '../losses.ts';
import { nameReaderOf, namerOf } from '../stream-reading.ts';
import type { AnswerContext, ReadOptions, Written } from '../wire-format.ts';
import { readChatContent } from './content.ts';
import { markField, readChatCall, writeAssistantParts } from './messages.ts';

const format = 'openai-chat';

/** Reads a `chat.completion`. Throws `model-failed` when it is none. */
export function readChatAnswer(body: unknown, options: ReadOptions = {}): ConversationAnswer {
  if (!isObject(body)) throw new HotcellError('model-failed', 'The answer of the model server is no chat completion.');
  const { id, model, choices, usage, object, ...rest } = body;
  const newId = namerOf(options);
  const [choice = {}] = objectsIn(choices);
  const { message, finish_reason, index, ...ofChoice } = choice;
  const { parts, others } = readAnswerMessage(
    objectIn(message),
    options,
    finish_reason === 'length' || typeof finish_reason !== 'string',
  );
  const hasCalls = parts.some(({ type }) => type === 'tool-call');
  return {
    id: textIn(id) || newId('chatcmpl'),
    model: textIn(model) ?? '',
    parts,
    stop: agreeWithCalls(readChatStop(finish_reason), hasCalls),
    ...(isObject(usage) && { usage: readChatUsage(usage) }),
    ...keep(format, compact({ ...rest, choice: nonEmpty(ofChoice), message: nonEmpty(others) })),
  };
}

/** Reads the message of a choice, and what it has beyond the usual. */
export function readAnswerMessage(
  message: JsonObject,
  options: ReadOptions,
  isCut: boolean,
): { parts: Part[]; others: JsonObject } {
  const { role, content, refusal, tool_calls, function_call, reasoning_content, reasoning, audio, ...others } = message;
  const newId = namerOf(options);
  const thought = textIn(reasoning_content) ?? textIn(reasoning) ?? '';
  const called = objectsIn([function_call]).map((call) => ({ function: call }));
  const parts: Part[] = [
    ...(thought === '' ? [] : [{ type: 'reasoning' as const, text: thought, ...markField(reasoning_content === undefined) }]),
    ...(typeof content === 'string' || Array.isArray(content) ? readSafely(content) : []),
    ...(typeof refusal === 'string' && refusal !== '' ? [{ type: 'refusal' as const, text: refusal }] : []),
    ...objectsIn([audio]).map(readChatAudio),
    ...[...objectsIn(tool_calls), ...called].map((call) => {
      const part = readChatCall(call, nameReaderOf(options), isCut);
      return part.id === '' ? { ...part, id: newId('call') } : part;
    }),
  ];
  return { parts, others };
}

function readSafely(content: unknown): Part[] {
  return readChatContent(Array.isArray(content) ? objectsIn(content) : content, 'content');
}

/** Reads the audio of an answer; only its id goes back to the provider. */
export function readChatAudio({ id, data, transcript, ...rest }: JsonObject): Part {
  const said = typeof transcript === 'string' && transcript !== '' ? { transcript } : {};
  const source = { kind: 'data' as const, mediaType: 'audio/wav', data: textIn(data) ?? '' };
  return { type: 'audio', source, ...said, ...keep(format, { id, ...rest }) };
}

const stops: Readonly<Record<string, AnswerStop['kind']>> = {
  stop: 'end',
  length: 'max-tokens',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

export function readChatStop(reason: unknown): AnswerStop {
  if (typeof reason !== 'string') return { kind: 'interrupted' };
  const kind = stops[reason] ?? 'other';
  return kind === 'other' ? { kind, native: { format, value: reason } } : { kind };
}

const reasons: Readonly<Partial<Record<AnswerStop['kind'], string>>> = {
  'max-tokens': 'length',
  'context-full': 'length',
  interrupted: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
};

export function writeChatStop({ kind, native }: AnswerStop): string {
  return native?.format === format ? native.value : (reasons[kind] ?? 'stop');
}

export function readChatUsage(usage: JsonObject): TokenUsage {
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details, completion_tokens_details, ...rest } = usage;
  const { cached_tokens, ...ofPrompt } = objectIn(prompt_tokens_details);
  const { reasoning_tokens, ...ofCompletion } = objectIn(completion_tokens_details);
  const details = { prompt_tokens_details: nonEmpty(ofPrompt), completion_tokens_details: nonEmpty(ofCompletion) };
  return {
    inputTokens: countIn(prompt_tokens),
    outputTokens: countIn(completion_tokens),
    ...(typeof cached_tokens === 'number' && { cacheReadTokens: countIn(cached_tokens) }),
    ...(typeof reasoning_tokens === 'number' && { reasoningTokens: countIn(reasoning_tokens) }),
    ...keep(format, compact({ ...rest, ...details })),
  };
}

export function writeChatUsage(usage: TokenUsage): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = usage;
  const { prompt_tokens_details, completion_tokens_details, ...rest } = keptOf(usage, format);
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens ?? 0, ...objectIn(prompt_tokens_details) },
    completion_tokens_details: { reasoning_tokens: reasoningTokens ?? 0, ...objectIn(completion_tokens_details) },
    ...rest,
  };
}

/** Writes a `chat.completion`. */
export function writeChatAnswer(answer: ConversationAnswer, context: AnswerContext = {}): Written<JsonObject> {
  const losses = createLosses(format);
  losses.noteKept(answer, 'answer');
  if (answer.stop.sequence !== undefined) losses.note('Which stop sequence was met');
  const { choice, message, ...rest } = keptOf(answer, format);
  const fields = writeAssistantParts(answer.parts, losses);
  const value = compact({
    id: context.id ?? answer.id,
    object: 'chat.completion',
    created: context.createdAt ?? Math.floor(Date.now() / 1000),
    model: answer.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, ...fields, ...objectIn(message) },
        logprobs: null,
        finish_reason: writeChatStop(answer.stop),
        ...objectIn(choice),
      },
    ],
    usage: answer.usage && writeChatUsage(answer.usage),
    ...rest,
  });
  return { value, warnings: losses.list };
}
