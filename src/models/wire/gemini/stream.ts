import { isObject } from '../../../config/json-object.ts';
import type { AnswerStop, TokenUsage } from '../../../conversation/answer.ts';
import { type JsonObject, keep, keptOf, type Part } from '../../../conversation/conversation.ts';
import { readFailureIn } from '../failures.ts';
import { compact, nonEmpty, objectIn, objectsIn, textIn } from '../json-fields.ts';
import { createSummarySeparator, unseal } from '../parts.ts';
import { builderFor, createReading, nameReaderOf, namerOf } from '../reading.ts';
import { fitCall } from '../tool-declarations.ts';
import type { AnswerContext, ReadOptions, StreamReader, StreamWriter } from '../wire-format.ts';
import { createLosses, createWriting, serverSentEvent } from '../writing.ts';
import { geminiErrors, geminiStops, readGeminiStop, readGeminiUsage, writeGeminiUsage } from './answer.ts';
import { PartialArguments } from './partial-arguments.ts';
import { readGeminiPart, writeGeminiPart } from './parts.ts';

const format = 'gemini';

/** Reads the chunks of `streamGenerateContent`, as server-sent events or as a JSON list. */
export function createGeminiStreamReader(options: ReadOptions = {}): StreamReader {
  const builder = builderFor<string>(options);
  const readName = nameReaderOf(options);
  const newId = namerOf(options);
  let current: { kind: 'text' | 'reasoning'; key: string } | undefined;
  let count = 0;
  /** The call whose arguments come in pieces. */
  let partial: { key: string; name: string; given: PartialArguments; isSound: boolean } | undefined;
  let stop: AnswerStop | undefined;
  let feedback: unknown;
  let usage: TokenUsage | undefined;
  let kept: JsonObject = {};

  function closeCurrent(): void {
    if (current !== undefined) builder.close(current.key);
    current = undefined;
  }

  function say(part: Extract<Part, { type: 'text' | 'reasoning' }>): void {
    if (current?.kind !== part.type) {
      closeCurrent();
      if (part.text === '' && part.sealed === undefined && part.kept === undefined) return;
      current = { kind: part.type, key: `${part.type} ${count++}` };
      builder.open(current.key, part.type, { kept: part.kept });
    }
    builder.add(current.key, part.text);
    if (part.sealed === undefined) return;
    // A signature stands for what was said up to it.
    builder.settle(current.key, { sealed: part.sealed });
    closeCurrent();
  }

  function readPart(value: JsonObject) {
    const call = objectIn(value.functionCall);
    if (partial !== undefined || call.partialArgs !== undefined || call.willContinue === true) {
      if (isObject(value.functionCall)) return continueCall(call, value);
    }
    const part = readGeminiPart(value, readName);
    if (part.type === 'text' || part.type === 'reasoning') return say(part);
    closeCurrent();
    const named = part.type === 'tool-call' && part.id === '' ? { ...part, id: newId('call') } : part;
    builder.whole(`part ${count++}`, fitCall(named, options.request));
  }

  function continueCall(call: JsonObject, value: JsonObject): void {
    const { id, name, args, partialArgs, willContinue } = call;
    closeCurrent();
    const isAnother =
      partial !== undefined && typeof name === 'string' && name !== '' && (id !== undefined || name !== partial.name);
    if (isAnother) endCall(false);
    if (partial === undefined) {
      partial = { key: `part ${count++}`, name: textIn(name) ?? '', given: new PartialArguments(), isSound: true };
      const sealed = unseal(format, value.thoughtSignature);
      builder.open(partial.key, 'tool-call', { id: textIn(id), name: readName(partial.name), sealed });
    }
    for (const piece of objectsIn(partialArgs)) partial.isSound = partial.given.put(piece) && partial.isSound;
    if (isObject(args) && Object.keys(args).length > 0) builder.settle(partial.key, { text: JSON.stringify(args) });
    if (willContinue !== true) endCall(isObject(args));
  }

  /** Pieces whose place makes no sense leave the arguments broken, not incomplete. */
  function endCall(isWhole: boolean): void {
    if (partial === undefined) return;
    const { key, given, isSound } = partial;
    if (!isWhole || given.text() !== '{}') builder.settle(key, { text: isSound ? given.text() : `${given.text()} and more` });
    builder.close(key);
    partial = undefined;
  }

  function read(chunk: JsonObject) {
    if (isObject(chunk.error)) return builder.fail(readFailureIn(chunk), usage);
    const { candidates, usageMetadata, modelVersion, responseId, promptFeedback, ...rest } = chunk;
    builder.start({ id: textIn(responseId) ?? '', model: textIn(modelVersion) ?? '', kept: keep(format, rest).kept });
    if (isObject(usageMetadata)) usage = readGeminiUsage(usageMetadata);
    feedback ??= promptFeedback;
    for (const candidate of objectsIn(candidates)) {
      const { content, finishReason, index, ...ofCandidate } = candidate;
      if (typeof index === 'number' && index > 0) {
        builder.native(format, { candidates: [candidate] });
        continue;
      }
      objectsIn(objectIn(content).parts).forEach(readPart);
      kept = { ...kept, ...ofCandidate };
      if (typeof finishReason === 'string') stop = geminiStops.read(finishReason);
    }
  }

  function end(): void {
    closeCurrent();
    if (partial !== undefined && stop === undefined) builder.settle(partial.key, { text: partial.given.text().slice(0, -1) });
    else endCall(false);
    const beyond = compact({ promptFeedback: feedback, candidate: nonEmpty(kept) });
    builder.finish(stop ?? readGeminiStop(undefined, feedback), { usage, kept: keep(format, beyond).kept });
  }

  return createReading({ format, builder, read, end });
}

/** Writes the chunks of `streamGenerateContent?alt=sse`. Calls are written when they are whole: clients expect their arguments so. */
export function createGeminiStreamWriter({ id }: AnswerContext = {}): StreamWriter {
  const losses = createLosses(format);
  const separate = createSummarySeparator();
  let head: JsonObject = {};

  const chunk = (candidate: JsonObject, fields: JsonObject = {}): string =>
    serverSentEvent({ candidates: [{ ...candidate, index: 0 }], ...fields, ...head });
  const piece = (part: JsonObject): string => chunk({ content: { role: 'model', parts: [part] } });
  const count = (usage: TokenUsage | undefined): JsonObject =>
    usage === undefined ? {} : { usageMetadata: writeGeminiUsage(usage) };

  return createWriting(format, losses, {
    start(event) {
      const { candidate, ...rest } = keptOf(event, format);
      head = { modelVersion: event.model, responseId: id ?? event.id, ...rest };
      return '';
    },
    continuePart({ index, text, channel }, { type }) {
      if (type === 'reasoning') return piece({ text: `${separate(index, channel)}${text}`, thought: true });
      return type === 'text' || type === 'refusal' ? piece({ text }) : '';
    },
    /** Of texts the signature remains to be said, of other parts everything. */
    endPart({ part, warning }) {
      const isSpoken = part.type === 'text' || part.type === 'refusal' || part.type === 'reasoning';
      if (warning !== undefined && isSpoken) losses.note('A part whose end differs from its pieces');
      const written = writeGeminiPart(part, 'to-client', losses);
      if (written === undefined) return '';
      if (!isSpoken) return piece(written);
      return written.thoughtSignature === undefined ? '' : piece({ ...written, text: '' });
    },
    writeNative: (value) => serverSentEvent({ ...value, ...head }),
    finish({ stop, usage, kept }) {
      const { candidate, ...rest } = objectIn(kept?.[format]);
      const content = { role: 'model', parts: [{ text: '' }] };
      return chunk({ content, finishReason: geminiStops.write(stop), ...objectIn(candidate) }, { ...rest, ...count(usage) });
    },
    fail: ({ failure }) => serverSentEvent(geminiErrors.writeFailure(failure).body),
  });
}
