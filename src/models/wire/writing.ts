import { isObject } from '../../config/json-object.ts';
import type { EventOf } from '../../conversation/answer.ts';
import type { JsonObject, Kept, Part } from '../../conversation/conversation.ts';
import type { StreamWriter, Written } from './wire-format.ts';

/** Writes a request or an answer, and tells what had to be left out of it. */
export function writeBody(
  format: string,
  where: 'request' | 'answer',
  thing: { readonly kept?: Kept },
  write: (losses: Losses) => JsonObject,
): Written<JsonObject> {
  const losses = createLosses(format);
  losses.noteKept(thing, where);
  return { value: write(losses), warnings: losses.list };
}

/** How one format writes what happens in an answer: the text that each event comes to, which may be none. */
interface Writing {
  start(event: EventOf<'answer-start'>): string;
  startPart?(event: EventOf<'part-start'>): string;
  /** `part` is as it began. */
  continuePart(event: EventOf<'part-delta'>, part: Part): string;
  endPart(event: EventOf<'part-end'>): string;
  /** An event that only this format knows, and the part that it belongs to. */
  writeNative(value: JsonObject, index: number | undefined): string;
  finish(event: EventOf<'answer-end'>): string;
  fail(event: EventOf<'answer-failed'>): string;
}

/** A writer of streams. */
export function createWriting(format: string, losses: Losses, writing: Writing): StreamWriter {
  const startedParts = new Map<number, Part>();
  return {
    write(event) {
      switch (event.type) {
        case 'answer-start':
          losses.noteKept(event, 'answer');
          return writing.start(event);
        case 'part-start':
          startedParts.set(event.index, event.part);
          return writing.startPart?.(event) ?? '';
        case 'part-delta': {
          const part = startedParts.get(event.index);
          return part === undefined ? '' : writing.continuePart(event, part);
        }
        case 'part-end':
          startedParts.delete(event.index);
          return writing.endPart(event);
        case 'native-event': {
          const { value, index } = event;
          if (event.format !== format) losses.note(`An event of ${event.format}`);
          return event.format === format && isObject(value) ? writing.writeNative(value, index) : '';
        }
        case 'answer-end':
          losses.noteKept(event, 'answer');
          return writing.finish(event);
        case 'answer-failed':
          return writing.fail(event);
      }
    },
    get warnings() {
      return losses.list;
    },
  };
}

/** One server-sent event. */
export function serverSentEvent(value: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;
}

/** What a writer had to leave out, a sentence each. */
export interface Losses {
  /** `what` has no place in the format: nothing is written in its place. */
  note(what: string): undefined;
  /** Something that only one format knows: as it came, or nothing where this is another. */
  takeNative(what: string, native: { readonly format: string; readonly value: JsonObject }): JsonObject | undefined;
  /** Another sentence. */
  tell(sentence: string): void;
  /** Tells of what other formats said beyond the neutral shapes. */
  noteKept(thing: { readonly kept?: Kept | undefined }, where: string): void;
  readonly list: readonly string[];
}

/** What names things within one format and means nothing in another. */
const bookkeeping = new Set([
  ...['id', 'item', 'status', 'created', 'created_at', 'completed_at', 'object', 'role', 'index', 'type', 'output', 'background'],
  ...['total_tokens', 'totalTokenCount', 'obfuscation', 'stream_options', 'max_completion_tokens', 'responseId', 'createTime'],
  ...['thinking', 'output_config', 'reasoning', 'thinkingConfig', 'responseSchema', 'parameters'],
]);

/** Creates the list of one writer. The same is told once. */
export function createLosses(format: string): Losses {
  const sentences = new Set<string>();
  const losses: Losses = {
    note: (what) => void sentences.add(`${what} cannot be expressed in the wire format ${format} and was left out.`),
    takeNative: (what, { format: from, value }) =>
      from === format
        ? value
        : losses.note(`${what} "${typeof value.type === 'string' ? value.type : (Object.keys(value)[0] ?? '')}" of ${from}`),
    tell: (sentence) => void sentences.add(sentence),
    noteKept({ kept = {} }, where) {
      for (const [other, fields] of Object.entries(kept)) {
        if (other === format) continue;
        for (const [name, value] of Object.entries(fields)) {
          if (!bookkeeping.has(name) && !isEmpty(value)) losses.note(`"${name}" (${where}, ${other})`);
        }
      }
    },
    get list() {
      return [...sentences];
    },
  };
  return losses;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every(isEmpty);
}
