import { type JsonObject, keptOf, type Part } from '../../../conversation/conversation.ts';
import { writeFailure } from '../failures.ts';
import { objectIn } from '../json-fields.ts';
import { createLosses } from '../losses.ts';
import { createSummarySeparator } from '../parts.ts';
import type { AnswerContext, StreamWriter } from '../wire-format.ts';
import { createWriting, serverSentEvent } from '../writing.ts';
import { writeChatStop, writeChatUsage } from './answer.ts';
import { writeAssistantParts, writeChatCall } from './messages.ts';

const format = 'openai-chat';
const done = 'data: [DONE]\n\n';

/** Writes `chat.completion.chunk` events and `[DONE]`. */
export function createChatStreamWriter(context: AnswerContext = {}): StreamWriter {
  const losses = createLosses(format);
  const created = context.createdAt ?? Math.floor(Date.now() / 1000);
  const wantsUsage =
    context.request === undefined || objectIn(keptOf(context.request, format).stream_options).include_usage === true;
  let head: JsonObject = { id: '', object: 'chat.completion.chunk', created, model: '' };
  const separate = createSummarySeparator();
  const callPositions = new Map<number, number>();

  const chunk = (fields: JsonObject): string => serverSentEvent({ ...head, ...(wantsUsage && { usage: null }), ...fields });
  const piece = (delta: JsonObject, finish_reason: string | null = null, ofChoice: JsonObject = {}): string =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason, ...ofChoice }] });
  const callPiece = (index: number, fields: JsonObject): string =>
    piece({ tool_calls: [{ index: callPositions.get(index) ?? 0, ...fields }] });

  return createWriting(format, losses, {
    start(event) {
      // What a whole answer keeps of its choice stands elsewhere in a chunk.
      const { choice, message, ...rest } = keptOf(event, format);
      head = { ...head, id: context.id ?? event.id, model: event.model, ...rest };
      return piece({ role: 'assistant', content: '' });
    },
    startPart({ index, part }) {
      if (part.type !== 'tool-call') return '';
      callPositions.set(index, callPositions.size);
      const { function: called, custom, ...call } = writeChatCall(part, losses);
      const about =
        custom === undefined
          ? { function: { ...objectIn(called), arguments: '' } }
          : { custom: { ...objectIn(custom), input: '' } };
      return callPiece(index, { ...call, ...about });
    },
    continuePart({ index, text, channel }, part: Part) {
      switch (part.type) {
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
    },
    /** Native parts have no pieces; what else is lost of a part shows when it is whole. */
    endPart({ part, warning }) {
      if (warning !== undefined) losses.note('A part whose end differs from its pieces');
      const { content } = writeAssistantParts([part], losses);
      return part.type === 'native' && Array.isArray(content) ? piece({ content }) : '';
    },
    writeNative(value) {
      const { delta, choice, ...ofChoice } = value;
      if (choice !== undefined) return chunk({ choices: [choice] });
      return value.object === undefined ? piece(objectIn(delta), null, ofChoice) : serverSentEvent(value);
    },
    finish({ stop, usage }) {
      const counted = wantsUsage && usage !== undefined ? chunk({ choices: [], usage: writeChatUsage(usage) }) : '';
      return `${piece({}, writeChatStop(stop))}${counted}${done}`;
    },
    fail: ({ failure }) => `${serverSentEvent(writeFailure('openai', failure).body)}${done}`,
  });
}
