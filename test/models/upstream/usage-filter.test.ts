import { describe, expect, it } from 'vitest';
import { createUsageFilter } from '../../../src/models/upstream/usage-filter.ts';
import { createAnswerGauge } from '../../../src/models/upstream/usage-reader.ts';

const chunk = (fields: object) => `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', ...fields })}\n\n`;
const said = (content: string, more: object = {}) => chunk({ choices: [{ index: 0, delta: { content }, ...more }] });
const usage = { prompt_tokens: 7, completion_tokens: 3 };

/** What a client gets of a text that comes in pieces of this size. */
function filtered(text: string, size: number): string {
  const filter = createUsageFilter();
  const bytes = Buffer.from(text);
  const passed: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) passed.push(filter.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...passed, filter.end()]).toString('utf8');
}

describe('createUsageFilter', () => {
  const body = said('Grüße "usage" 🌍') + said('', { finish_reason: 'stop' });
  const extra = chunk({ choices: [], usage });

  it.each([1, 2, 7, 64, 100_000])('takes the chunk of the usage alone, and nothing else: in pieces of %s bytes', (size) => {
    expect(filtered(`${body}${extra}data: [DONE]\n\n`, size)).toBe(`${body}data: [DONE]\n\n`);
    expect(filtered(`${body}${extra}`.trimEnd(), size)).toBe(body);
    const crlf = `${body}${extra}data: [DONE]\n\n`.replaceAll('\n', '\r\n');
    expect(filtered(crlf, size)).toBe(`${body}data: [DONE]\n\n`.replaceAll('\n', '\r\n'));
  });

  it.each([
    ['a usage beside a choice', said('Hi', { usage }) + chunk({ choices: [{ index: 0, delta: {} }], usage })],
    ['no choices without a usage', chunk({ choices: [], prompt_filter_results: [] })],
    ['no usage yet', chunk({ choices: [], usage: null })],
    ['an error', chunk({ choices: [], usage, error: { message: 'no' } })],
    ['what is no JSON', 'data: {"choices":[], "usage":\n\n'],
    ['a line without an end', `data: ${'x'.repeat(200_000)}`],
  ])('lets pass: %s', (_name, text) => {
    for (const size of [3, 70_000]) expect(filtered(text, size)).toBe(text);
  });
});

describe('createAnswerGauge', () => {
  const gauge = (text: string, isStreamed: boolean) => {
    const made = createAnswerGauge(isStreamed);
    for (let at = 0; at < text.length; at += 50) made.push(Buffer.from(text.slice(at, at + 50)));
    return made.tokens();
  };

  it('counts an event as a token at least, and long texts by their length, without what is around them', () => {
    const short = Array.from({ length: 40 }, () => said('ab')).join('');
    expect(gauge(`${short}data: [DONE]\n\n`, true)).toBeGreaterThanOrEqual(40);
    expect(gauge(`${short}data: [DONE]\n\n`, true)).toBeLessThan(80);
    const long = said('') + Array.from({ length: 10 }, () => said('word '.repeat(200))).join('');
    expect(gauge(long, true)).toBeGreaterThan(2000);
    expect(gauge(long, true)).toBeLessThan(3500);
    expect(gauge('', true)).toBe(0);
    expect(gauge('x'.repeat(400), false)).toBe(100);
  });
});
