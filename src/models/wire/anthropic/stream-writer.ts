import type { EventOf } from '../../../conversation/answer.ts';
import { type JsonObject, keptOf, type Part } from '../../../conversation/conversation.ts';
import { argumentsValue } from '../../../conversation/tool-arguments.ts';
import { writeFailure } from '../failures.ts';
import { objectIn, textIn } from '../json-fields.ts';
import { createLosses } from '../losses.ts';
import { createSummarySeparator } from '../parts.ts';
import type { AnswerContext, StreamWriter } from '../wire-format.ts';
import { createWriting, serverSentEvent } from '../writing.ts';
import { writeMessagesStop, writeMessagesUsage } from './answer.ts';
import { writeBlock } from './blocks.ts';

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

  const say = (event: JsonObject): string => serverSentEvent(event, textIn(event.type));

  /** Writes what the first part has waiting, and that of the next ones as far as those before them have ended. */
  function flush(): string {
    let text = '';
    for (const [index, waiting] of parts) {
      for (const event of waiting.events.splice(0)) text += say({ ...event, index: blockIndex });
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

  function emptyBlock(part: Part): JsonObject {
    const rest = keptOf(part.type === 'native' ? {} : part, format);
    if (part.type === 'reasoning') return { type: 'thinking', thinking: '', signature: '', ...rest };
    if (part.type === 'tool-call') return { ...writeBlock(part, 'to-client', losses), input: {} };
    return { type: 'text', text: '', ...rest };
  }

  function end(waiting: WaitingPart, { part, warning }: EventOf<'part-end'>): void {
    const add = (delta: JsonObject) => waiting.events.push({ type: 'content_block_delta', delta });
    if (warning !== undefined) losses.note('A part whose end differs from its pieces');
    const block = writeBlock(part, 'to-client', losses);
    if (!waiting.isBegun && block !== undefined) begin(waiting, part.type === 'tool-call' ? emptyBlock(part) : block);
    else if (waiting.isBegun && block?.type === 'thinking' && block.signature !== '')
      add({ type: 'signature_delta', signature: block.signature });
    if (part.type === 'tool-call' && part.isFreeText === true)
      add({ type: 'input_json_delta', partial_json: JSON.stringify(argumentsValue(part.arguments)) });
    if (waiting.isBegun) waiting.events.push({ type: 'content_block_stop' });
    waiting.isEnded = true;
  }

  return createWriting(format, losses, {
    start(event) {
      const head = { id: context.id ?? event.id, type: 'message', role: 'assistant', model: event.model, content: [] };
      const open = { stop_reason: null, stop_sequence: null, usage: writeMessagesUsage(event.usage) };
      return say({ type: 'message_start', message: { ...head, ...open, ...keptOf(event, format) } });
    },
    startPart({ index, part }) {
      parts.set(index, { part, events: [], isBegun: false, isEnded: false });
      return '';
    },
    continuePart({ index, text, channel }, part) {
      const waiting = parts.get(index);
      const delta = deltaOf(part, `${separate(index, channel)}${text}`);
      if (waiting === undefined || delta === undefined) return '';
      begin(waiting, emptyBlock(part));
      waiting.events.push({ type: 'content_block_delta', delta });
      return flush();
    },
    endPart(event) {
      const waiting = parts.get(event.index);
      if (waiting === undefined) return '';
      end(waiting, event);
      return flush();
    },
    writeNative(value, index) {
      const waiting = index === undefined ? undefined : parts.get(index);
      if (waiting === undefined) return say(value);
      begin(waiting, emptyBlock(waiting.part));
      waiting.events.push(value);
      return flush();
    },
    finish({ stop, usage, kept }) {
      const delta = { ...writeMessagesStop(stop), ...objectIn(kept?.[format]) };
      return say({ type: 'message_delta', delta, usage: writeMessagesUsage(usage) }) + say({ type: 'message_stop' });
    },
    fail: ({ failure }) => serverSentEvent(writeFailure('anthropic', failure).body, 'error'),
  });
}

function deltaOf(part: Part, text: string): JsonObject | undefined {
  if (part.type === 'text' || part.type === 'refusal') return { type: 'text_delta', text };
  if (part.type === 'reasoning') return { type: 'thinking_delta', thinking: text };
  // The text of a tool that takes one is no JSON; it is written when it is whole.
  if (part.type !== 'tool-call' || part.isFreeText === true) return undefined;
  return { type: 'input_json_delta', partial_json: text };
}
