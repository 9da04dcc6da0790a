import type { StreamEvent } from '../../src/conversation/answer.ts';
import type { Part } from '../../src/conversation/conversation.ts';

/** What a stream of events breaks of what `StreamEvent` promises; nothing when it keeps it all. */
export function findStreamBreaches(events: readonly StreamEvent[]): string[] {
  const breaches: string[] = [];
  const texts = new Map<number, string>();
  const open = new Set<number>();
  const expect = (isSo: boolean, rule: string) => void (isSo || breaches.push(rule));
  expect(events[0]?.type === 'answer-start', 'begins with answer-start');
  const last = events.at(-1)?.type;
  expect(last === 'answer-end' || last === 'answer-failed', 'ends with answer-end or answer-failed');
  const ends = events.filter(({ type }) => type === 'answer-end' || type === 'answer-failed');
  expect(ends.length === 1, 'ends once');
  expect(events.filter(({ type }) => type === 'answer-start').length === 1, 'begins once');
  for (const event of events) {
    if (event.type === 'part-start') {
      expect(event.index === texts.size, 'starts parts in order, each once');
      texts.set(event.index, '');
      open.add(event.index);
    }
    if (event.type === 'part-delta') {
      expect(open.has(event.index), 'has pieces of open parts only');
      if (event.channel === 'text') texts.set(event.index, (texts.get(event.index) ?? '') + event.text);
    }
    if (event.type === 'part-end') {
      expect(open.delete(event.index), 'ends open parts only');
      const isWhole = texts.get(event.index) === textOf(event.part);
      expect(isWhole || event.warning !== undefined, 'has pieces that make up the text');
    }
  }
  expect(open.size === 0, 'ends every part');
  return breaches;
}

function textOf(part: Part): string {
  if (part.type === 'tool-call') return part.arguments.text;
  if (part.type === 'audio') return part.transcript ?? '';
  return 'text' in part ? part.text : '';
}
