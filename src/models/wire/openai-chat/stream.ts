import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, TokenUsage } from '../../../conversation/answer.ts';
import { type JsonObject, keep, keptOf, type Part } from '../../../conversation/conversation.ts';
import { readFailureIn } from '../failures.ts';
import { compact, listIn, nonEmpty, objectIn, objectsIn, textIn } from '../json-fields.ts';
import { argumentsText, openaiErrors } from '../openai-shapes.ts';
import { createSummarySeparator } from '../parts.ts';
import { builderFor, createReading, nameReaderOf } from '../reading.ts';
import type { AnswerContext, ReadOptions, StreamReader, StreamWriter } from '../wire-format.ts';
import { createLosses, createWriting, serverSentEvent } from '../writing.ts';
import { chatStops, readAnswerMessage, readChatUsage, writeChatUsage } from './answer.ts';
import { markField, readCallSeal, writeAssistantParts, writeChatCall } from './messages.ts';

const format = 'openai-chat';

/** Reads `chat.completion.chunk` events; also a whole message in the last of them, and a whole answer instead of a stream. */
export function createChatStreamReader(options: ReadOptions = {}): StreamReader {
  const builder = builderFor<string>(options);
  const readName = nameReaderOf(options);
  /** Key of the part that text goes to; another kind of part ends it. */
  let current: { kind: string; key: string } | undefined;
  let count = 0;
  let hasSaid = false;
  /** Which call an index of `tool_calls` stands for at the moment. */
  const keysByIndex = new Map<unknown, string>();
  const idsByKey = new Map<string, string>();
  let stop: AnswerStop | undefined;
  let usage: TokenUsage | undefined;

  function say(kind: 'text' | 'reasoning' | 'refusal' | 'audio', facts: Parameters<typeof builder.open>[2] = {}): string {
    if (current?.kind !== kind) {
      closeCurrent();
      hasSaid = true;
      current = { kind, key: `${kind} ${count++}` };
      builder.open(current.key, kind, facts);
    }
    return current.key;
  }

  function closeCurrent(): void {
    if (current !== undefined) builder.close(current.key);
    current = undefined;
  }

  function readCall(call: JsonObject, position: number): void {
    const { index, id, type, function: called, custom, extra_content, ...rest } = call;
    const at = typeof index === 'number' ? index : (keyOfId(textIn(id)) ?? position);
    const isFreeText = type === 'custom' || (called === undefined && custom !== undefined);
    const { name, arguments: given, input } = objectIn(isFreeText ? custom : called);
    let key = typeof at === 'string' ? at : keysByIndex.get(at);
    // Some servers give every call the same index.
    if (key === undefined || isOtherId(key, id)) {
      closeCurrent();
      key = `call ${count++}`;
      keysByIndex.set(at, key);
      builder.open(key, isFreeText ? 'free-text-call' : 'tool-call', keep(format, rest));
    }
    if (typeof id === 'string' && id !== '') idsByKey.set(key, id);
    const sealed = readCallSeal(extra_content);
    builder.settle(key, { id: textIn(id), name: readName(textIn(name) ?? ''), sealed });
    builder.add(key, isFreeText ? (textIn(input) ?? '') : argumentsText(given));
  }

  function keyOfId(id: string | undefined): string | undefined {
    return id === undefined ? undefined : [...idsByKey].find(([, other]) => other === id)?.[0];
  }

  function isOtherId(key: string, id: unknown): boolean {
    const known = idsByKey.get(key);
    return typeof id === 'string' && id !== '' && known !== undefined && known !== id;
  }

  function readDelta(delta: JsonObject, ofChoice: JsonObject): void {
    const { role, content, refusal, tool_calls, function_call, reasoning_content, reasoning, audio, ...rest } = delta;
    const thought = textIn(reasoning_content) ?? textIn(reasoning) ?? '';
    if (thought !== '') builder.add(say('reasoning', markField(reasoning_content === undefined)), thought);
    const texts = typeof content === 'string' ? [content] : objectsIn(content).map(({ text }) => textIn(text) ?? '');
    for (const text of texts) if (text !== '') builder.add(say('text'), text);
    if (typeof refusal === 'string' && refusal !== '') builder.add(say('refusal'), refusal);
    if (isObject(audio)) readAudio(audio);
    objectsIn(tool_calls).forEach(readCall);
    if (isObject(function_call)) readCall({ index: -1, function: function_call }, -1);
    const beyond = compact({ delta: nonEmpty(rest), ...ofChoice });
    if (Object.values(beyond).some((value) => value !== null)) builder.native(format, beyond, current?.key);
  }

  function readAudio({ data, transcript, ...rest }: JsonObject): void {
    const key = say('audio', keep(format, rest));
    builder.add(key, textIn(data) ?? '', 'data');
    builder.add(key, textIn(transcript) ?? '');
  }

  /** The message as it is in the end: of calls it counts more than the pieces. */
  function readMessage(message: JsonObject, isCut: boolean): void {
    const { parts } = readAnswerMessage(message, options, isCut);
    const keys = [...idsByKey.keys()];
    let position = 0;
    for (const part of parts) {
      if (part.type !== 'tool-call') {
        if (!hasSaid) builder.whole(`whole ${count++}`, part);
        continue;
      }
      const key = keyOfId(part.id) ?? keys[position];
      position += 1;
      if (key === undefined) builder.whole(`whole ${count++}`, part);
      else builder.settle(key, { text: part.arguments.text });
    }
  }

  function read(chunk: JsonObject) {
    if (isObject(chunk.error) || typeof chunk.error === 'string') return builder.fail(readFailureIn(chunk), usage);
    const { id, model, choices, usage: counted, object, ...rest } = chunk;
    builder.start({ id: textIn(id) ?? '', model: textIn(model) ?? '', kept: keep(format, rest).kept });
    if (isObject(counted)) usage = readChatUsage(counted);
    for (const choice of objectsIn(choices)) {
      const { index, delta, message, finish_reason, ...ofChoice } = choice;
      if (typeof index === 'number' && index > 0) {
        builder.native(format, { choice });
        continue;
      }
      readDelta(objectIn(delta), ofChoice);
      if (isObject(message)) readMessage(message, finish_reason === 'length');
      if (typeof finish_reason === 'string' && finish_reason !== '') stop = chatStops.read(finish_reason);
    }
    if (listIn(choices).length === 0 && !isObject(counted)) builder.native(format, chunk);
  }

  function end(): void {
    closeCurrent();
    if (stop !== undefined && stop.kind !== 'max-tokens') for (const key of keysByIndex.values()) builder.close(key);
    builder.finish(stop ?? { kind: 'interrupted' }, { usage });
  }

  return createReading({ format, builder, read, end });
}

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
      return `${piece({}, chatStops.write(stop))}${counted}${done}`;
    },
    fail: ({ failure }) => `${serverSentEvent(openaiErrors.writeFailure(failure).body)}${done}`,
  });
}
