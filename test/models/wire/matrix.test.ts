import { describe, expect, it } from 'vitest';
import type { WireFormatName } from '../../../src/models/wire/wire-format.ts';
import { wireFormats } from '../../../src/models/wire/wire-formats.ts';
import { findAsClient } from './clients.ts';
import { answers, callsOf, type Shape, shapes, streams } from './upstreams.ts';

const names = Object.keys(wireFormats) as WireFormatName[];

/** What a client of `to` finds when an upstream of `from` streams `text`, cut every `size` characters. */
function translateStream(from: WireFormatName, to: WireFormatName, text: string, size: number): string {
  const reader = wireFormats[from].createStreamReader();
  const writer = wireFormats[to].createStreamWriter();
  const pieces = text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()].map((event) => writer.write(event)).join('');
}

const cutStops: Record<WireFormatName, unknown[]> = {
  'openai-chat': ['length'],
  'openai-responses': ['interrupted', 'max_output_tokens'],
  anthropic: ['max_tokens'],
  gemini: ['OTHER', 'MAX_TOKENS'],
};
const callStops: Record<WireFormatName, unknown> = {
  'openai-chat': 'tool_calls',
  'openai-responses': 'completed',
  anthropic: 'tool_use',
  gemini: 'STOP',
};

function expectCalls(from: WireFormatName, to: WireFormatName, shape: Shape, isStreamed: boolean, answer: unknown): void {
  const found = findAsClient(to, answer);
  expect(found.text).toBe('Let me see.');
  const calls = callsOf(shape);
  expect(found.calls.map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
  if (shape !== 'truncated') {
    expect(found.calls.map(({ given }) => given)).toEqual(calls.map(({ text }) => (text === '' ? {} : JSON.parse(text))));
    expect(found.stop).toBe(callStops[to]);
    return;
  }
  // A call that was cut off is there with what came of it, and the reason to stop says so.
  expect(cutStops[to]).toContain(found.stop);
  const cut = from === 'gemini' && isStreamed ? '{"city":"Zür"' : calls[0]?.text;
  const isText = to.startsWith('openai') || (to === 'anthropic' && isStreamed);
  const expected = isText ? cut : { invalid_arguments: cut };
  expect(found.calls[0]?.given).toEqual(expected);
}

describe.each(names)('from %s', (from) => {
  describe.each(names)('to %s', (to) => {
    it.each(shapes)('keeps the arguments of a stream: %s', (shape) => {
      const text = streams[from](shape);
      for (const size of [1, 7, 64, text.length]) expectCalls(from, to, shape, true, translateStream(from, to, text, size));
    });

    it.each(shapes)('keeps the arguments of a whole answer: %s', (shape) => {
      const read = wireFormats[from].readAnswer(answers[from](shape));
      expectCalls(from, to, shape, false, wireFormats[to].writeAnswer(read).value);
    });
  });
});
