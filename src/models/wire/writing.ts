import { isObject } from '../../config/json-object.ts';
import type { EventOf } from '../../conversation/answer.ts';
import type { JsonObject, Kept, Part } from '../../conversation/conversation.ts';
import { createLosses, type Losses } from './losses.ts';
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
