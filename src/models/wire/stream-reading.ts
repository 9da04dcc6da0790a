import { randomUUID } from 'node:crypto';
import { isObject } from '../../config/json-object.ts';
import type { JsonObject } from '../../conversation/conversation.ts';
import { createStreamBuilder, type StreamBuilder } from '../../conversation/stream-builder.ts';
import { createMessageSplitter, type WireMessage } from './event-source.ts';
import { brokenStream, malformedCode } from './failures.ts';
import { fitCall, takesFreeText } from './tool-declarations.ts';
import { decodeToolName } from './tool-names.ts';
import type { ReadOptions, StreamReader, WireFormatName } from './wire-format.ts';

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
  return createStreamBuilder<Key>(namerOf(options), {
    refit: (call) => fitCall(call, request),
    isRefitted: (name) => takesFreeText(request, name),
  });
}

/** Turns names of tools back into those of the request. */
export function nameReaderOf({ request }: ReadOptions): (name: string) => string {
  const names = request?.tools.map(({ name }) => name) ?? [];
  return (name) => (name === '' ? '' : decodeToolName(name, names));
}
