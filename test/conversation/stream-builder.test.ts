import { describe, expect, it } from 'vitest';
import type { ConversationAnswer } from '../../src/conversation/answer.ts';
import { createAnswerCollector, eventsOfAnswer } from '../../src/conversation/collect-answer.ts';
import type { Part } from '../../src/conversation/conversation.ts';
import { StreamBuilder } from '../../src/conversation/stream-builder.ts';
import { argumentsOf } from '../../src/conversation/tool-arguments.ts';
import { findStreamBreaches } from './stream-breaches.ts';

function builderOf() {
  let count = 0;
  return new StreamBuilder<string>((prefix) => `${prefix}_${++count}`);
}

function partsOf(builder: ReturnType<typeof builderOf>): readonly Part[] {
  const events = builder.take();
  expect(findStreamBreaches(events)).toEqual([]);
  const collector = createAnswerCollector();
  events.forEach(collector.push);
  return collector.answer().parts;
}

describe('StreamBuilder', () => {
  it('prefers what is final to what came in pieces, and tells when they differ', () => {
    const builder = builderOf();
    builder.open('a', 'tool-call', { id: 'c1', name: 'weather' });
    builder.add('a', '{"city": "Bern", "days": 1');
    builder.settle('a', { text: '{"city": "Basel"}' });
    builder.close('a');
    builder.finish({ kind: 'end' });
    const events = builder.take();
    expect(findStreamBreaches(events)).toEqual([]);
    expect(events.find(({ type }) => type === 'part-end')).toMatchObject({
      part: { arguments: { value: { city: 'Basel' } } },
      warning: expect.stringContaining('the end counts'),
    });
    expect(events.at(-1)).toMatchObject({ type: 'answer-end', stop: { kind: 'tool-calls' } });
  });

  it('waits with a call until it has a name, and gives it an id when it has none', () => {
    const builder = builderOf();
    builder.start({ id: 'a1', model: 'm' });
    builder.open('a', 'tool-call');
    builder.add('a', '{"b"');
    expect(builder.take()).toMatchObject([{ type: 'answer-start' }]);
    builder.settle('a', { name: 'weather' });
    builder.add('a', ': 1}');
    expect(builder.take()).toMatchObject([
      { type: 'part-start', part: { id: 'call_1', name: 'weather' } },
      { text: '{"b' },
      { text: '": 1' },
    ]);
    builder.finish({ kind: 'tool-calls' });
    expect(builder.take()).toMatchObject([{ text: '}' }, { type: 'part-end' }, { type: 'answer-end' }]);
  });

  it('waits with arguments that came as nothing, since they may still come', () => {
    const builder = builderOf();
    builder.open('a', 'tool-call', { id: 'c1', name: 'weather' });
    builder.close('a');
    builder.settle('a', { text: '{"b":1}' });
    builder.finish({ kind: 'tool-calls' });
    expect(partsOf(builder)).toMatchObject([{ arguments: { state: 'valid', value: { b: 1 } } }]);
  });

  it.each([
    ['interrupted', true, 'valid'],
    ['interrupted', false, 'broken'],
    ['max-tokens', true, 'broken'],
    ['tool-calls', false, 'valid'],
  ] as const)('takes a call without arguments, when the answer ends as %s (call closed: %s), as %s', (kind, isClosed, state) => {
    const builder = builderOf();
    builder.open('a', 'tool-call', { id: 'c1', name: 'time' });
    if (isClosed) builder.close('a');
    builder.finish({ kind });
    expect(partsOf(builder)).toMatchObject([{ arguments: { state } }]);
  });

  it('keeps a call without a name as broken', () => {
    const builder = builderOf();
    builder.open('a', 'tool-call', { id: 'c1' });
    builder.add('a', '{"b":1}');
    builder.finish({ kind: 'end' });
    expect(partsOf(builder)).toMatchObject([{ name: '', arguments: { state: 'broken', text: '{"b":1}' } }]);
  });

  it('ends what is open when it fails, and says nothing afterwards', () => {
    const builder = builderOf();
    builder.open('t', 'text');
    builder.add('t', 'Half a sen');
    builder.fail({ kind: 'overloaded', status: 529, message: 'Busy.' });
    builder.add('t', 'tence.');
    builder.whole('w', { type: 'text', text: 'more' });
    builder.finish({ kind: 'end' });
    expect(partsOf(builder)).toEqual([{ type: 'text', text: 'Half a sen' }]);
  });

  it('does not make room for summaries that nobody sends', () => {
    const builder = builderOf();
    builder.open('r', 'reasoning');
    builder.add('r', 'a', { summary: 1e9 });
    builder.add('r', 'b', { summary: Number.NaN });
    builder.finish({ kind: 'end' });
    expect(partsOf(builder)).toMatchObject([{ summaries: ['ab'] }]);
  });
});

describe('eventsOfAnswer', () => {
  it('comes to the same answer again', () => {
    const answer: ConversationAnswer = {
      id: 'a',
      model: 'm',
      parts: [
        { type: 'reasoning', text: 'Hm.', summaries: ['one', 'two'], sealed: { format: 'x', value: 'y' } },
        { type: 'text', text: 'Hello', phase: 'commentary' },
        { type: 'tool-call', id: 'c', name: 'n', arguments: argumentsOf({ a: 1 }) },
        { type: 'audio', source: { kind: 'data', mediaType: 'audio/wav', data: 'AAAA' }, transcript: 'Hi' },
        { type: 'native', format: 'x', value: { type: 'y' } },
      ],
      stop: { kind: 'tool-calls' },
      usage: { inputTokens: 1, outputTokens: 2 },
      kept: { x: { y: 1 } },
    };
    const collector = createAnswerCollector();
    const events = eventsOfAnswer(answer);
    expect(findStreamBreaches(events)).toEqual([]);
    events.forEach(collector.push);
    expect(collector.answer()).toEqual(answer);
  });

  it('tells of an answer without an end that it failed', () => {
    const collector = createAnswerCollector();
    collector.push({ type: 'answer-start', id: 'a', model: 'm' });
    expect(collector.answer()).toMatchObject({ stop: { kind: 'interrupted' }, failure: { message: 'The answer has no end.' } });
  });
});
