import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message, Part } from '../../src/conversation/conversation.ts';
import { argumentsOf } from '../../src/conversation/tool-arguments.ts';
import { findBreaches } from './breaches.ts';

const text = (said: string): Part => ({ type: 'text', text: said });
const call = (id: string): Part => ({ type: 'tool-call', id, name: 'n', arguments: argumentsOf({}) });
const result = (callId: string): Part => ({ type: 'tool-result', callId, content: [], isError: false });

/** Conversations that keep the rules: rounds of calls with their results in any order, then an answer. */
const anyConversation = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.boolean(), fc.boolean()), { maxLength: 6 }).map((rounds) =>
  rounds.flatMap(([count, isReversed, isSplit], round): Message[] => {
    const ids = Array.from({ length: count }, (_, index) => `c${round}_${index}`);
    const results = (isReversed ? ids.toReversed() : ids).map(result);
    const answered: Message[] = isSplit
      ? results.map((part) => ({ role: 'tool', parts: [part] }))
      : [{ role: 'tool', parts: results }];
    return [
      { role: 'user', parts: [text('ask')] },
      { role: 'assistant', parts: [text('see'), ...ids.map(call)] },
      ...(count > 0 ? answered : []),
    ];
  }),
);

describe('findBreaches', () => {
  it('finds nothing in a conversation that keeps the rules', () => {
    fc.assert(
      fc.property(anyConversation, (messages) => {
        expect(findBreaches(messages)).toEqual([]);
      }),
    );
  });

  it('finds a result that is gone, that comes twice, or that answers nothing', () => {
    const property = fc.property(anyConversation, fc.nat(), (messages, choice) => {
      const places = messages.flatMap(({ role }, index) => (role === 'tool' ? [index] : []));
      const place = places[choice % Math.max(1, places.length)];
      const message = place === undefined ? undefined : messages[place];
      if (place === undefined || message === undefined) return;
      const [first, ...others] = message.parts;
      const change = (parts: readonly Part[]) =>
        findBreaches(messages.with(place, { ...message, parts }).concat({ role: 'user', parts: [] }));
      if (first?.type !== 'tool-result') return;
      expect(change(others).map(({ rule }) => rule)).toContain('call-without-result');
      expect(change([first, ...message.parts])).toContainEqual({ message: place, rule: 'result-twice', callId: first.callId });
      expect(change([result('nobody'), ...message.parts]).map(({ rule }) => rule)).toEqual(['result-without-call']);
    });
    fc.assert(property);
  });

  it('finds parts in a role that may not say them, and ids that are used twice', () => {
    const messages: Message[] = [
      { role: 'user', parts: [call('a')] },
      { role: 'assistant', parts: [call('b'), call('b')] },
      { role: 'tool', parts: [result('a'), result('b')] },
    ];
    expect(findBreaches(messages).map(({ rule }) => rule)).toEqual([
      'part-in-wrong-role',
      'call-without-result',
      'call-id-twice',
    ]);
  });

  it('lets the last calls wait', () => {
    expect(findBreaches([{ role: 'assistant', parts: [call('a')] }])).toEqual([]);
  });
});
