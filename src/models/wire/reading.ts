import { randomUUID } from 'node:crypto';
import { createParser } from 'eventsource-parser';
import { isObject, readJson } from '../../config/json-object.ts';
import type { AnswerStop, ConversationAnswer, ModelFailure, TokenUsage } from '../../conversation/answer.ts';
import { type JsonObject, keep, type Part } from '../../conversation/conversation.ts';
import { agreeWithCalls, StreamBuilder } from '../../conversation/stream-builder.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import { brokenStream, malformedCode } from './failures.ts';
import { textIn } from './json-fields.ts';
import type { ReadName } from './parts.ts';
import { fitCall, takesFreeText } from './tool-declarations.ts';
import { decodeToolName } from './tool-names.ts';
import type { ReadOptions, StreamReader, WireFormatName } from './wire-format.ts';

/** What one format finds in a whole answer. */
interface FoundAnswer {
  readonly id: unknown;
  readonly model: unknown;
  readonly parts: readonly Part[];
  readonly stop: AnswerStop;
  readonly usage: TokenUsage | undefined;
  readonly failure?: ModelFailure | undefined;
  readonly rest: JsonObject;
}

/** Reads a whole answer; those without a name, and their calls, get one that begins as `prefixes` say. Throws `model-failed` when it is none. */
export function readWhole(
  body: unknown,
  { format, what, prefixes }: { format: WireFormatName; what: string; prefixes: readonly [answer: string, call: string] },
  options: ReadOptions,
  find: (body: JsonObject, readName: ReadName) => FoundAnswer,
): ConversationAnswer {
  if (!isObject(body)) throw new HotcellError('model-failed', `The answer of the model server is no ${what}.`);
  const newId = namerOf(options);
  const { id, model, stop, usage, failure, rest, ...found } = find(body, nameReaderOf(options));
  const parts = found.parts.map((part) =>
    fitCall(part.type === 'tool-call' && part.id === '' ? { ...part, id: newId(prefixes[1]) } : part, options.request),
  );
  const hasCalls = parts.some(({ type }) => type === 'tool-call');
  return {
    id: textIn(id) || newId(prefixes[0]),
    model: textIn(model) ?? '',
    parts,
    stop: agreeWithCalls(stop, hasCalls),
    ...(usage && { usage }),
    ...(failure && { failure }),
    ...keep(format, rest),
  };
}

/** How one format reads its messages into the builder. */
interface Reading<Key> {
  readonly format: WireFormatName;
  readonly builder: StreamBuilder<Key>;
  readonly read: (value: JsonObject, event: string | undefined) => void;
  /** The end, said by `[DONE]` or by the end of the text; `read` may have ended the answer already. */
  readonly end: () => void;
}

/** A reader of streams: splits the text, and tells the builder of what is no JSON. */
export function createReading<Key>({ format, builder, read, end }: Reading<Key>): StreamReader {
  const splitter = createMessageSplitter();
  function take({ event, text, value }: WireMessage): void {
    if (builder.isOver) return;
    if (text.trim() === '[DONE]') end();
    else if (isObject(value)) read(value, event);
    else if (value !== undefined) builder.native(format, value);
    else builder.fail(brokenStream(`The stream has a chunk that is no JSON: ${text.slice(0, 100)}`));
  }
  return {
    push(text) {
      for (const message of splitter.push(text)) take(message);
      return builder.take();
    },
    end() {
      // The last chunk is no JSON when the stream was cut off in it.
      for (const message of splitter.end()) if (message.value !== undefined || message.text.trim() === '[DONE]') take(message);
      if (!builder.isStarted) builder.fail({ ...brokenStream('The stream ended before it had an answer.'), code: malformedCode });
      else if (!builder.isOver) end();
      return builder.take();
    },
  };
}

/** A random name, or what the options give instead. */
export function namerOf({ newId }: ReadOptions): (prefix: string) => string {
  return newId ?? ((prefix) => `${prefix}_${randomUUID().replaceAll('-', '')}`);
}

/** A builder for the answer to a request. */
export function builderFor<Key>(options: ReadOptions): StreamBuilder<Key> {
  const { request } = options;
  return new StreamBuilder<Key>(namerOf(options), {
    refit: (call) => fitCall(call, request),
    isRefitted: (name) => takesFreeText(request, name),
  });
}

/** Turns names of tools back into those of the request. */
export function nameReaderOf({ request }: ReadOptions): ReadName {
  const names = request?.tools.map(({ name }) => name) ?? [];
  return (name) => (name === '' ? '' : decodeToolName(name, names));
}

/** One message of a stream. `value` is undefined when the text is no JSON. */
export interface WireMessage {
  readonly event: string | undefined;
  readonly text: string;
  readonly value: unknown;
}

/** Splits what comes in pieces, cut anywhere, into messages. Nothing of it is dropped: what is no message comes as text. */
export function createMessageSplitter() {
  let messages: WireMessage[] = [];
  let isJson: boolean | undefined;
  let lead = '';
  const objects = createObjectSplitter((text) => messages.push(messageOf(undefined, text)));
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (data.trim() !== '') messages.push(messageOf(event, data));
    },
  });

  function take(): WireMessage[] {
    const taken = messages;
    messages = [];
    return taken;
  }

  return {
    push(text: string): WireMessage[] {
      lead += isJson === undefined ? text : '';
      const [first] = lead
        .trimStart()
        .replace(/^\uFEFF/, '')
        .trimStart();
      if (first === undefined) return [];
      const piece = isJson === undefined ? lead : text;
      isJson ??= first === '[' || first === '{';
      if (isJson) objects.push(piece);
      else parser.feed(piece);
      return take();
    },
    end(): WireMessage[] {
      if (isJson === true) objects.end();
      // A last event without its empty line was cut off by the server, but may be whole.
      else if (isJson === false) parser.feed('\n\n');
      return take();
    },
  };
}

/** Tells of every object of a JSON list, or of the one object that there is. */
function createObjectSplitter(onObject: (text: string) => void) {
  let object = '';
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  return {
    push(text: string): void {
      for (const char of text) {
        if (depth === 0 && char !== '{') continue;
        object += char;
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (char === '\\') isEscaped = true;
          else if (char === '"') isInString = false;
          continue;
        }
        if (char === '"') isInString = true;
        else if (char === '{') depth += 1;
        else if (char === '}') depth -= 1;
        if (depth > 0) continue;
        onObject(object);
        object = '';
      }
    },
    end(): void {
      if (object !== '') onObject(object);
      object = '';
    },
  };
}

function messageOf(event: string | undefined, text: string): WireMessage {
  return { event, text, value: readJson(text) };
}
