import { describe, expect, it } from 'vitest';
import { fitMedia, weighShown } from '../../src/loop/decide-round.ts';
import { readOutput } from '../../src/loop/read-output.ts';

const data = Buffer.from('some bytes').toString('base64');
const image = { type: 'image', source: { kind: 'data', mediaType: 'image/png', data } };

describe('readOutput', () => {
  it.each([
    ['a text', 'sunny', 'sunny', []],
    ['nothing', undefined, 'null', []],
    ['an empty text', '', 'The tool answered with an empty text.', []],
    ['an object', { a: [1] }, '{"a":[1]}', []],
    ['a list that is none of parts', [{ type: 'image' }, 1], '[{"type":"image"},1]', []],
    ['an empty list', [], '[]', []],
    ['a text part', { type: 'text', text: 'a' }, 'a', []],
    ['an image of ours', { type: 'image', mediaType: 'image/png', data }, '[image/png, 10 bytes]', [image]],
    [
      'an image of MCP',
      {
        content: [
          { type: 'text', text: 'See:' },
          { type: 'image', mimeType: 'image/png', data },
        ],
      },
      'See:\n[image/png, 10 bytes]',
      [image],
    ],
    [
      'a sound',
      [{ type: 'audio', mimeType: 'audio/wav', data }],
      '[audio/wav, 10 bytes]',
      [{ type: 'audio', source: { kind: 'data', mediaType: 'audio/wav', data } }],
    ],
    [
      'a document',
      { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', data },
      '[application/pdf, a.pdf, 10 bytes]',
      [{ type: 'file', name: 'a.pdf', source: { kind: 'data', mediaType: 'application/pdf', data } }],
    ],
    [
      'a file that is text',
      { type: 'file', mediaType: 'text/csv; charset=utf-8', name: 'a.csv', data },
      '[text/csv, a.csv, 10 bytes]\nsome bytes',
      [],
    ],
    [
      'a file that no model takes',
      { type: 'file', mediaType: 'application/zip', data },
      '[application/zip, 10 bytes: of a kind that models are not shown]',
      [],
    ],
    [
      'an image that no provider takes',
      { type: 'image', mediaType: 'image/svg+xml', data },
      '[image/svg+xml, 10 bytes: of a kind that models are not shown]',
      [],
    ],
    [
      'a resource with a text',
      [{ type: 'resource', resource: { uri: 'notes://a', text: 'A note.' } }],
      'notes://a:\nA note.',
      [],
    ],
    [
      'a resource with bytes',
      [{ type: 'resource', resource: { uri: 'file:///b/a.png', mimeType: 'image/png', blob: data } }],
      '[image/png, a.png, 10 bytes]',
      [image],
    ],
    ['a link to a resource', { type: 'resource_link', uri: 'notes://a', name: 'A' }, 'A — notes://a', []],
  ])('reads %s', (_name, output, text, media) => {
    expect(readOutput(output)).toEqual({ text, media });
  });
});

describe('fitMedia', () => {
  it('leaves out what would be more than may be shown, and says so', () => {
    const big = {
      type: 'image' as const,
      source: { kind: 'data' as const, mediaType: 'image/png', data: 'x'.repeat(5 * 1024 * 1024) },
    };
    const result = { callId: 'c', name: 'shot', status: 'success' as const, text: 'two', media: [big, big] };
    const fitted = fitMedia(result, 0);
    expect(fitted.media).toEqual([big]);
    expect(fitted.text).toMatch(/^two\n\[1 of them left out: .+ at most 8388608 bytes\.\]$/);
    const shown = [
      { role: 'tool' as const, parts: [{ type: 'tool-result' as const, callId: 'c', isError: false, content: [big] }] },
    ];
    expect(fitMedia({ ...result, media: [big] }, weighShown(shown)).media).toEqual([]);
    const small = { ...result, media: [] };
    expect(fitMedia(small, 9_000_000)).toBe(small);
  });
});
