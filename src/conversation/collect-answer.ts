import type { ConversationAnswer, ModelFailure, StreamEvent, TokenUsage } from './answer.ts';
import type { Kept, Part } from './conversation.ts';
import { eventsOfPart } from './stream-builder.ts';

const cutOff: ModelFailure = { kind: 'server-error', status: 502, message: 'The answer has no end.' };

/** Creates a collector of one answer. Events that only one format knows are left out. */
export function createAnswerCollector() {
  const parts: Part[] = [];
  let head: { id: string; model: string } = { id: '', model: '' };
  let usage: TokenUsage | undefined;
  let kept: Kept | undefined;
  let last: StreamEvent | undefined;
  return {
    push(event: StreamEvent): void {
      last = event;
      if (event.type === 'answer-start') head = { id: event.id, model: event.model };
      if (event.type === 'part-start' || event.type === 'part-end') parts[event.index] = event.part;
      if ('usage' in event) usage = event.usage;
      if (event.type === 'answer-start' || event.type === 'answer-end') kept = mergeKept(kept, event.kept);
    },
    answer(): ConversationAnswer {
      const body = { ...head, parts: [...parts], ...(usage && { usage }), ...(kept && { kept }) };
      if (last?.type === 'answer-end') return { ...body, stop: last.stop };
      return { ...body, stop: { kind: 'interrupted' }, failure: last?.type === 'answer-failed' ? last.failure : cutOff };
    },
  };
}

/** Reads an answer to its end. Rejects as its events do. */
export async function collectAnswer(events: AsyncIterable<StreamEvent>): Promise<ConversationAnswer> {
  const collector = createAnswerCollector();
  for await (const event of events) collector.push(event);
  return collector.answer();
}

/** The events that a whole answer comes to. */
export function eventsOfAnswer({ id, model, parts, stop, usage, failure, kept }: ConversationAnswer): StreamEvent[] {
  const counted = usage && { usage };
  return [
    { type: 'answer-start', id, model, ...counted, ...(kept && { kept }) },
    ...parts.flatMap((part, index) => eventsOfPart(index, part)),
    failure === undefined ? { type: 'answer-end', stop, ...counted } : { type: 'answer-failed', failure, ...counted },
  ];
}

function mergeKept(first: Kept | undefined, second: Kept | undefined): Kept | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const formats = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries([...formats].map((format) => [format, { ...first[format], ...second[format] }]));
}
