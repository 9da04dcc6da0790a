import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, EventOf } from '../../../conversation/answer.ts';
import { type JsonObject, keep, keptOf, type Part } from '../../../conversation/conversation.ts';
import { argumentsValue, readToolArguments } from '../../../conversation/tool-arguments.ts';
import { readFailureIn } from '../failures.ts';
import { listIn, objectIn, textIn } from '../json-fields.ts';
import { createSummarySeparator, unseal } from '../parts.ts';
import { builderFor, createReading, nameReaderOf } from '../reading.ts';
import type { AnswerContext, ReadOptions, StreamReader, StreamWriter } from '../wire-format.ts';
import { createLosses, createWriting, serverSentEvent } from '../writing.ts';
import { anthropicErrors, readMessagesStop, readMessagesUsage, writeMessagesStop, writeMessagesUsage } from './answer.ts';
import { readBlock, writeBlock } from './blocks.ts';

const format = 'anthropic';

/** A block as it began, and the JSON that came for it since. */
interface OpenBlock {
  readonly block: JsonObject;
  json: string;
  readonly citations: unknown[];
  isNative: boolean;
}

/** Reads the events of a message; also a whole message instead of a stream. */
export function createMessagesStreamReader(options: ReadOptions = {}): StreamReader {
  const builder = builderFor<number>(options);
  const readName = nameReaderOf(options);
  const blocks = new Map<number, OpenBlock>();
  let counted: JsonObject = {};
  let stop: AnswerStop | undefined;
  let kept: JsonObject = {};

  function readStart(message: JsonObject): void {
    const { id, model, usage, content, type, role, stop_reason, stop_sequence, ...rest } = message;
    counted = objectIn(usage);
    const about = { id: textIn(id) ?? '', model: textIn(model) ?? '', kept: keep(format, rest).kept };
    builder.start({ ...about, usage: isObject(usage) ? readMessagesUsage(usage) : undefined });
    listIn(content).forEach((block, index) => {
      startBlock(index, objectIn(block));
      stopBlock(index);
    });
    if (typeof stop_reason === 'string') stop = readMessagesStop(stop_reason, stop_sequence);
  }

  function startBlock(index: number, block: JsonObject): void {
    if (blocks.has(index)) return;
    const { type, text, thinking, id, name, input, signature, ...rest } = block;
    const open: OpenBlock = { block, json: '', citations: [], isNative: false };
    blocks.set(index, open);
    const facts = keep(format, rest);
    if (type === 'text') builder.open(index, 'text', facts);
    else if (type === 'thinking') builder.open(index, 'reasoning', { ...facts, sealed: unseal(format, signature) });
    else if (type === 'tool_use')
      builder.open(index, 'tool-call', { ...facts, id: textIn(id), name: readName(textIn(name) ?? '') });
    else open.isNative = true;
    builder.add(index, textIn(text) ?? textIn(thinking) ?? '');
  }

  function readDelta(index: number, event: JsonObject) {
    const delta = objectIn(event.delta);
    const open = blocks.get(index);
    if (open === undefined) return builder.native(format, event);
    switch (delta.type) {
      case 'text_delta':
        return builder.add(index, textIn(delta.text) ?? '');
      case 'thinking_delta':
        return builder.add(index, textIn(delta.thinking) ?? '');
      case 'signature_delta':
        return builder.settle(index, { sealed: unseal(format, delta.signature) });
      case 'input_json_delta': {
        const piece = textIn(delta.partial_json) ?? '';
        open.json += piece;
        return builder.add(index, piece);
      }
      case 'citations_delta':
        open.citations.push(delta.citation);
        builder.settle(index, keep(format, { citations: [...open.citations] }));
    }
    builder.native(format, event, index);
  }

  function stopBlock(index: number) {
    const open = blocks.get(index);
    if (open === undefined) return;
    const { block, json } = open;
    if (open.isNative) {
      const input = json === '' ? {} : { input: argumentsValue(readToolArguments(json)) };
      return builder.whole(index, readBlock({ ...block, ...input }, readName));
    }
    // Some servers send the arguments at the start instead of in pieces.
    const isWhole = json === '' && (typeof block.input === 'string' || Object.keys(objectIn(block.input)).length > 0);
    if (isWhole) builder.settle(index, { text: typeof block.input === 'string' ? block.input : JSON.stringify(block.input) });
    builder.close(index);
  }

  function read(event: JsonObject) {
    const index = typeof event.index === 'number' ? event.index : -1;
    switch (event.type) {
      case 'message_start':
        return readStart(objectIn(event.message));
      case 'message':
        return readStart(event);
      case 'content_block_start':
        return startBlock(index, objectIn(event.content_block));
      case 'content_block_delta':
        return readDelta(index, event);
      case 'content_block_stop':
        return stopBlock(index);
      case 'message_delta': {
        const { stop_reason, stop_sequence, ...rest } = objectIn(event.delta);
        if (typeof stop_reason === 'string') stop = readMessagesStop(stop_reason, stop_sequence);
        const totals = Object.entries(objectIn(event.usage)).filter(([, value]) => value !== null);
        counted = { ...counted, ...Object.fromEntries(totals) };
        kept = { ...kept, ...rest };
        return;
      }
      case 'message_stop':
        return end();
      case 'ping':
        return;
      case 'error':
        return builder.fail(readFailureIn(event), usage());
      default:
        builder.native(format, event);
    }
  }

  const usage = () => (Object.keys(counted).length === 0 ? undefined : readMessagesUsage(counted));

  function end(): void {
    // What was cut off before its end is still a block that only this format knows.
    for (const [index, open] of blocks) if (open.isNative) stopBlock(index);
    builder.finish(stop ?? { kind: 'interrupted' }, { usage: usage(), kept: keep(format, kept).kept });
  }

  return createReading({ format, builder, read, end });
}

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
    fail: ({ failure }) => serverSentEvent(anthropicErrors.writeFailure(failure).body, 'error'),
  });
}

function deltaOf(part: Part, text: string): JsonObject | undefined {
  if (part.type === 'text' || part.type === 'refusal') return { type: 'text_delta', text };
  if (part.type === 'reasoning') return { type: 'thinking_delta', thinking: text };
  // The text of a tool that takes one is no JSON; it is written when it is whole.
  if (part.type !== 'tool-call' || part.isFreeText === true) return undefined;
  return { type: 'input_json_delta', partial_json: text };
}
