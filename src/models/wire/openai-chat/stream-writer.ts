import { isObject } from '../../../config/json-object.ts';
import type { StreamEvent, TokenUsage } from '../../../conversation/answer.ts';
import type { JsonObject, Part } from '../../../conversation/conversation.ts';
import { keptOf } from '../../../conversation/conversation.ts';
import { serverSentEvent } from '../event-source.ts';
import { objectIn } from '../json-fields.ts';
import { createLosses } from '../losses.ts';
import { writeOpenaiFailure } from '../openai-failure.ts';
import { createSummarySeparator } from '../summaries.ts';
import type { AnswerContext, StreamWriter } from '../wire-format.ts';
import { writeChatStop, writeChatUsage } from './answer.ts';
import { writeAssistantParts, writeChatCall } from './messages.ts';

const format = 'openai-chat';

/** Writes `chat.completion.chunk` events and `[DONE]`. */
export function createChatStreamWriter(context: AnswerContext = {}): StreamWriter {
  const losses = createLosses(format);
  const created = context.createdAt ?? Math.floor(Date.now() / 1000);
  const wantsUsage =
    context.request === undefined || objectIn(keptOf(context.request, format).stream_options).include_usage === true;
  let head: JsonObject = { id: '', object: 'chat.completion.chunk', created, model: '' };
  const separate = createSummarySeparator();
  const startedParts = new Map<number, Part>();
  const callPositions = new Map<number, number>();

  const chunk = (fields: JsonObject): string => serverSentEvent({ ...head, ...(wantsUsage && { usage: null }), ...fields });
  const piece = (delta: JsonObject, finish_reason: string | null = null, ofChoice: JsonObject = {}): string =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason, ...ofChoice }] });
  const callPiece = (index: number, fields: JsonObject): string =>
    piece({ tool_calls: [{ index: callPositions.get(index) ?? 0, ...fields }] });

  function startPart(index: number, part: Part): string {
    startedParts.set(index, part);
    if (part.type !== 'tool-call') return '';
    callPositions.set(index, callPositions.size);
    const { function: called, custom, ...call } = writeChatCall(part, losses);
    const about =
      custom === undefined
        ? { function: { ...objectIn(called), arguments: '' } }
        : { custom: { ...objectIn(custom), input: '' } };
    return callPiece(index, { ...call, ...about });
  }

  function continuePart({ index, text, channel }: Extract<StreamEvent, { type: 'part-delta' }>): string {
    const part = startedParts.get(index);
    switch (part?.type) {
      case 'text':
        return piece({ content: text });
      case 'refusal':
        return piece({ refusal: text });
      case 'reasoning': {
        const name = keptOf(part, format).item === 'reasoning' ? 'reasoning' : 'reasoning_content';
        return piece({ [name]: `${separate(index, channel)}${text}` });
      }
      case 'audio':
        return piece({ audio: { ...keptOf(part, format), [channel === 'data' ? 'data' : 'transcript']: text } });
      case 'tool-call':
        return callPiece(index, part.isFreeText === true ? { custom: { input: text } } : { function: { arguments: text } });
      default:
        return '';
    }
  }

  /** Native parts have no pieces; what else is lost of a part shows when it is whole. */
  function endPart({ part, warning }: Extract<StreamEvent, { type: 'part-end' }>): string {
    if (warning !== undefined) losses.note('A part whose end differs from its pieces');
    const { content } = writeAssistantParts([part], losses);
    return part.type === 'native' && Array.isArray(content) ? piece({ content }) : '';
  }

  function writeNative({ format: from, value }: Extract<StreamEvent, { type: 'native-event' }>): string {
    if (from !== format) losses.note(`An event of ${from}`);
    if (from !== format || !isObject(value)) return '';
    const { delta, choice, ...ofChoice } = value;
    if (choice !== undefined) return chunk({ choices: [choice] });
    return value.object === undefined ? piece(objectIn(delta), null, ofChoice) : serverSentEvent(value);
  }

  function finish(reason: string, usage: TokenUsage | undefined): string {
    const counted = wantsUsage && usage !== undefined ? chunk({ choices: [], usage: writeChatUsage(usage) }) : '';
    return `${piece({}, reason)}${counted}data: [DONE]\n\n`;
  }

  return {
    write(event) {
      switch (event.type) {
        case 'answer-start':
          losses.noteKept(event, 'answer');
          head = { ...head, id: context.id ?? event.id, model: event.model, ...withoutWhole(keptOf(event, format)) };
          return piece({ role: 'assistant', content: '' });
        case 'part-start':
          return startPart(event.index, event.part);
        case 'part-delta':
          return continuePart(event);
        case 'part-end':
          return endPart(event);
        case 'native-event':
          return writeNative(event);
        case 'answer-end':
          return finish(writeChatStop(event.stop), event.usage);
        case 'answer-failed':
          return `${serverSentEvent(writeOpenaiFailure(event.failure).body)}data: [DONE]\n\n`;
      }
    },
    get warnings() {
      return losses.list;
    },
  };
}

/** What a whole answer keeps of its choice stands elsewhere in a chunk. */
function withoutWhole({ choice, message, ...rest }: JsonObject): JsonObject {
  return rest;
}
