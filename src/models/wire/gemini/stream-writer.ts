import type { TokenUsage } from '../../../conversation/answer.ts';
import { type JsonObject, keptOf } from '../../../conversation/conversation.ts';
import { writeFailure } from '../failures.ts';
import { objectIn } from '../json-fields.ts';
import { createLosses } from '../losses.ts';
import { createSummarySeparator } from '../parts.ts';
import type { AnswerContext, StreamWriter } from '../wire-format.ts';
import { createWriting, serverSentEvent } from '../writing.ts';
import { writeGeminiStop, writeGeminiUsage } from './answer.ts';
import { writeGeminiPart } from './parts.ts';

const format = 'gemini';

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
      return chunk({ content, finishReason: writeGeminiStop(stop), ...objectIn(candidate) }, { ...rest, ...count(usage) });
    },
    fail: ({ failure }) => serverSentEvent(writeFailure('gemini', failure).body),
  });
}
