import { isObject } from '../../../config/json-object.ts';
import type { StreamEvent } from '../../../conversation/answer.ts';
import type { JsonObject, Part } from '../../../conversation/conversation.ts';
import { keptOf } from '../../../conversation/conversation.ts';
import { argumentsValue } from '../../../conversation/tool-arguments.ts';
import { serverSentEvent } from '../event-source.ts';
import { objectIn, textIn } from '../json-fields.ts';
import { createLosses } from '../losses.ts';
import { createSummarySeparator } from '../summaries.ts';
import type { AnswerContext, StreamWriter } from '../wire-format.ts';
import { writeMessagesStop, writeMessagesUsage } from './answer.ts';
import { writeBlock } from './blocks.ts';
import { writeMessagesFailure } from './failure.ts';

const format = 'anthropic';

/** A part on its way: its events wait as long as another part is being written, since blocks follow one another. */
interface WaitingPart {
  readonly part: Part;
  readonly events: JsonObject[];
  isBegun: boolean;
  isEnded: boolean;
}

/** Writes the events of a message. */
export function createMessagesStreamWriter(context: AnswerContext = {}): StreamWriter {
  const losses = createLosses(format);
  const separate = createSummarySeparator();
  const parts = new Map<number, WaitingPart>();
  let blockIndex = 0;

  /** Writes what the first part has waiting, and that of the next ones as far as those before them have ended. */
  function flush(): string {
    let text = '';
    for (const [index, waiting] of parts) {
      for (const event of waiting.events.splice(0)) text += serverSentEvent({ ...event, index: blockIndex }, textIn(event.type));
      if (!waiting.isEnded) break;
      if (waiting.isBegun) blockIndex += 1;
      parts.delete(index);
    }
    return text;
  }

  function begin(waiting: WaitingPart, block: JsonObject): void {
    if (!waiting.isBegun) waiting.events.push({ type: 'content_block_start', content_block: block });
    waiting.isBegun = true;
  }

  function addPiece(waiting: WaitingPart, { index, text, channel }: Extract<StreamEvent, { type: 'part-delta' }>): void {
    const { part } = waiting;
    const delta = deltaOf(part, `${separate(index, channel)}${text}`);
    if (delta === undefined) return;
    begin(waiting, emptyBlock(part));
    waiting.events.push({ type: 'content_block_delta', delta });
  }

  function emptyBlock(part: Part): JsonObject {
    const rest = keptOf(part.type === 'native' ? {} : part, format);
    if (part.type === 'reasoning') return { type: 'thinking', thinking: '', signature: '', ...rest };
    if (part.type === 'tool-call') return { ...writeBlock(part, 'to-client', losses), input: {} };
    return { type: 'text', text: '', ...rest };
  }

  function endPart(waiting: WaitingPart, { part, warning }: Extract<StreamEvent, { type: 'part-end' }>): void {
    if (warning !== undefined) losses.note('A part whose end differs from its pieces');
    const block = writeBlock(part, 'to-client', losses);
    if (!waiting.isBegun && block !== undefined) begin(waiting, part.type === 'tool-call' ? emptyBlock(part) : block);
    else if (waiting.isBegun && block?.type === 'thinking' && block.signature !== '') {
      waiting.events.push({ type: 'content_block_delta', delta: { type: 'signature_delta', signature: block.signature } });
    }
    if (part.type === 'tool-call' && part.isFreeText === true) {
      const partial_json = JSON.stringify(argumentsValue(part.arguments));
      waiting.events.push({ type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json } });
    }
    if (waiting.isBegun) waiting.events.push({ type: 'content_block_stop' });
    waiting.isEnded = true;
  }

  function writeNative({ format: from, value, index }: Extract<StreamEvent, { type: 'native-event' }>): string {
    if (from !== format) losses.note(`An event of ${from}`);
    if (from !== format || !isObject(value)) return '';
    const waiting = index === undefined ? undefined : parts.get(index);
    if (waiting === undefined) return serverSentEvent(value, textIn(value.type));
    begin(waiting, emptyBlock(waiting.part));
    waiting.events.push(value);
    return flush();
  }

  return {
    write(event) {
      switch (event.type) {
        case 'answer-start': {
          losses.noteKept(event, 'answer');
          const head = { id: context.id ?? event.id, type: 'message', role: 'assistant', model: event.model, content: [] };
          const open = { stop_reason: null, stop_sequence: null, usage: writeMessagesUsage(event.usage) };
          return serverSentEvent(
            { type: 'message_start', message: { ...head, ...open, ...keptOf(event, format) } },
            'message_start',
          );
        }
        case 'part-start':
          parts.set(event.index, { part: event.part, events: [], isBegun: false, isEnded: false });
          return '';
        case 'part-delta':
        case 'part-end': {
          const waiting = parts.get(event.index);
          if (waiting === undefined) return '';
          if (event.type === 'part-delta') addPiece(waiting, event);
          else endPart(waiting, event);
          return flush();
        }
        case 'native-event':
          return writeNative(event);
        case 'answer-end': {
          losses.noteKept(event, 'answer');
          const delta = { ...writeMessagesStop(event.stop), ...objectIn(event.kept?.[format]) };
          const end = serverSentEvent({ type: 'message_delta', delta, usage: writeMessagesUsage(event.usage) }, 'message_delta');
          return `${end}${serverSentEvent({ type: 'message_stop' }, 'message_stop')}`;
        }
        case 'answer-failed':
          return serverSentEvent(writeMessagesFailure(event.failure).body, 'error');
      }
    },
    get warnings() {
      return losses.list;
    },
  };
}

function deltaOf(part: Part, text: string): JsonObject | undefined {
  if (part.type === 'text' || part.type === 'refusal') return { type: 'text_delta', text };
  if (part.type === 'reasoning') return { type: 'thinking_delta', thinking: text };
  // The text of a tool that takes one is no JSON; it is written when it is whole.
  if (part.type !== 'tool-call' || part.isFreeText === true) return undefined;
  return { type: 'input_json_delta', partial_json: text };
}
