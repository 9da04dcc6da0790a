import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop } from '../../../conversation/answer.ts';
import { type JsonObject, keep } from '../../../conversation/conversation.ts';
import { argumentsValue, readToolArguments } from '../../../conversation/tool-arguments.ts';
import { readFailureIn } from '../failures.ts';
import { listIn, objectIn, textIn } from '../json-fields.ts';
import { unseal } from '../parts.ts';
import { builderFor, createReading, nameReaderOf } from '../reading.ts';
import type { ReadOptions, StreamReader } from '../wire-format.ts';
import { readMessagesStop, readMessagesUsage } from './answer.ts';
import { readBlock } from './blocks.ts';

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
