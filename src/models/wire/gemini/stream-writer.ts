import { isObject } from '../../../config/json-object.ts';
import type { StreamEvent, TokenUsage } from '../../../conversation/answer.ts';
import type { JsonObject, Part } from '../../../conversation/conversation.ts';
import { keptOf } from '../../../conversation/conversation.ts';
import { serverSentEvent } from '../event-source.ts';
import { objectIn } from '../json-fields.ts';
import { createLosses } from '../losses.ts';
import { createSummarySeparator } from '../summaries.ts';
import type { StreamWriter } from '../wire-format.ts';
import { writeGeminiStop, writeGeminiUsage } from './answer.ts';
import { writeGeminiFailure } from './failure.ts';
import { writeGeminiPart } from './parts.ts';

const format = 'gemini';

/** Writes the chunks of `streamGenerateContent?alt=sse`. Calls are written when they are whole: clients expect their arguments so. */
export function createGeminiStreamWriter({ id }: { id?: string } = {}): StreamWriter {
  const losses = createLosses(format);
  const separate = createSummarySeparator();
  const parts = new Map<number, Part>();
  let head: JsonObject = {};

  const chunk = (candidate: JsonObject, fields: JsonObject = {}): string =>
    serverSentEvent({ candidates: [{ ...candidate, index: 0 }], ...fields, ...head });
  const piece = (part: JsonObject): string => chunk({ content: { role: 'model', parts: [part] } });

  function continuePart({ index, text, channel }: Extract<StreamEvent, { type: 'part-delta' }>): string {
    const part = parts.get(index);
    if (part?.type === 'reasoning') return piece({ text: `${separate(index, channel)}${text}`, thought: true });
    return part?.type === 'text' || part?.type === 'refusal' ? piece({ text }) : '';
  }

  /** Of texts the signature remains to be said, of other parts everything. */
  function endPart({ index, part, warning }: Extract<StreamEvent, { type: 'part-end' }>): string {
    parts.delete(index);
    const isSpoken = part.type === 'text' || part.type === 'refusal' || part.type === 'reasoning';
    if (warning !== undefined && isSpoken) losses.note('A part whose end differs from its pieces');
    const written = writeGeminiPart(part, 'to-client', losses);
    if (written === undefined) return '';
    if (!isSpoken) return piece(written);
    return written.thoughtSignature === undefined ? '' : piece({ ...written, text: '' });
  }

  function finish(event: Extract<StreamEvent, { type: 'answer-end' }>): string {
    losses.noteKept(event, 'answer');
    const { candidate, ...rest } = objectIn(event.kept?.[format]);
    const content = { role: 'model', parts: [{ text: '' }] };
    return chunk(
      { content, finishReason: writeGeminiStop(event.stop), ...objectIn(candidate) },
      { ...rest, ...count(event.usage) },
    );
  }

  const count = (usage: TokenUsage | undefined): JsonObject =>
    usage === undefined ? {} : { usageMetadata: writeGeminiUsage(usage) };

  return {
    write(event) {
      switch (event.type) {
        case 'answer-start': {
          losses.noteKept(event, 'answer');
          const { candidate, ...rest } = keptOf(event, format);
          head = { modelVersion: event.model, responseId: id ?? event.id, ...rest };
          return '';
        }
        case 'part-start':
          parts.set(event.index, event.part);
          return '';
        case 'part-delta':
          return continuePart(event);
        case 'part-end':
          return endPart(event);
        case 'native-event':
          if (event.format !== format) losses.note(`An event of ${event.format}`);
          return event.format === format && isObject(event.value) ? serverSentEvent({ ...event.value, ...head }) : '';
        case 'answer-end':
          return finish(event);
        case 'answer-failed':
          return serverSentEvent(writeGeminiFailure(event.failure).body);
      }
    },
    get warnings() {
      return losses.list;
    },
  };
}
