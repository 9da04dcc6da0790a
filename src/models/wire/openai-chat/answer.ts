import { isObject } from '../../../config/json-object.ts';
import type { ConversationAnswer } from '../../../conversation/answer.ts';
import { type JsonObject, keep, keptOf, type Part } from '../../../conversation/conversation.ts';
import { compact, nonEmpty, objectIn, objectsIn, textIn } from '../json-fields.ts';
import { describeUsage } from '../openai-shapes.ts';
import { nameReaderOf, readWhole } from '../reading.ts';
import { describeStops } from '../stops.ts';
import type { AnswerContext, ReadOptions, Written } from '../wire-format.ts';
import { writeBody } from '../writing.ts';
import { readChatContent } from './content.ts';
import { readChatCall, readThought, writeAssistantParts } from './messages.ts';

const format = 'openai-chat';

/** Reads a `chat.completion`. Throws `model-failed` when it is none. */
export function readChatAnswer(body: unknown, options: ReadOptions = {}): ConversationAnswer {
  const about = { format, what: 'chat completion', prefixes: ['chatcmpl', 'call'] } as const;
  return readWhole(body, about, options, (whole) => {
    const { id, model, choices, usage, object, ...rest } = whole;
    const { message, finish_reason, index, ...ofChoice } = objectsIn(choices)[0] ?? {};
    const isCut = finish_reason === 'length' || typeof finish_reason !== 'string';
    const { parts, others } = readAnswerMessage(objectIn(message), options, isCut);
    return {
      id,
      model,
      parts,
      stop: chatStops.read(finish_reason),
      usage: isObject(usage) ? readChatUsage(usage) : undefined,
      rest: compact({ ...rest, choice: nonEmpty(ofChoice), message: nonEmpty(others) }),
    };
  });
}

/** Reads the message of a choice, and what it has beyond the usual. */
export function readAnswerMessage(
  message: JsonObject,
  options: ReadOptions,
  isCut: boolean,
): { parts: Part[]; others: JsonObject } {
  const { role, content, refusal, tool_calls, function_call, reasoning_content, reasoning, audio, ...others } = message;
  const called = objectsIn([function_call]).map((call) => ({ function: call }));
  const said = Array.isArray(content) ? objectsIn(content) : textIn(content);
  const parts: Part[] = [
    ...readThought(reasoning_content, reasoning),
    ...readChatContent(said, 'content'),
    ...(typeof refusal === 'string' && refusal !== '' ? [{ type: 'refusal' as const, text: refusal }] : []),
    ...objectsIn([audio]).map(readAudio),
    ...[...objectsIn(tool_calls), ...called].map((call) => readChatCall(call, nameReaderOf(options), isCut)),
  ];
  return { parts, others };
}

/** Reads the audio of an answer; only its id goes back to the provider. */
function readAudio({ id, data, transcript, ...rest }: JsonObject): Part {
  const said = typeof transcript === 'string' && transcript !== '' ? { transcript } : {};
  const source = { kind: 'data' as const, mediaType: 'audio/wav', data: textIn(data) ?? '' };
  return { type: 'audio', source, ...said, ...keep(format, { id, ...rest }) };
}

export const chatStops = describeStops(
  format,
  {
    stop: 'end',
    length: 'max-tokens',
    tool_calls: 'tool-calls',
    function_call: 'tool-calls',
    content_filter: 'content-filter',
  },
  { 'context-full': 'length', interrupted: 'length' },
);

export const [readChatUsage, writeChatUsage] = describeUsage(format, 'prompt', 'completion');

/** Writes a `chat.completion`. */
export function writeChatAnswer(answer: ConversationAnswer, context: AnswerContext = {}): Written<JsonObject> {
  return writeBody(format, 'answer', answer, (losses) => {
    if (answer.stop.sequence !== undefined) losses.note('Which stop sequence was met');
    const { choice, message: said, ...rest } = keptOf(answer, format);
    const message = { role: 'assistant', refusal: null, ...writeAssistantParts(answer.parts, losses), ...objectIn(said) };
    return compact({
      id: context.id ?? answer.id,
      object: 'chat.completion',
      created: context.createdAt ?? Math.floor(Date.now() / 1000),
      model: answer.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: chatStops.write(answer.stop), ...objectIn(choice) }],
      usage: answer.usage && writeChatUsage(answer.usage),
      ...rest,
    });
  });
}
