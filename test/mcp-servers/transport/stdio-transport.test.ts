import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineReader } from '../../../src/mcp-servers/transport/stdio-transport.ts';

describe('createLineReader', () => {
  it('gives the same lines however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat({ max: 40 }), { minLength: 1 }), (texts, cuts) => {
        const lines = texts.map((text) => text.replaceAll(/[\r\n]/g, ' ').trim()).filter((text) => text !== '');
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const reader = createLineReader(1_000_000);
        const read: string[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = 1 + (cuts[turn % cuts.length] ?? 0);
          read.push(...reader.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(read).toEqual(lines);
      }),
    );
  });

  it('keeps no line that is too long, with its end or without', () => {
    expect(() => createLineReader(10).push(Buffer.from('12345678901\n'))).toThrow(RangeError);
    const reader = createLineReader(10);
    expect(reader.push(Buffer.from('123456'))).toEqual([]);
    expect(() => reader.push(Buffer.from('78901'))).toThrow(RangeError);
    expect(reader.push(Buffer.from('short\n'))).toEqual(['short']);
  });
});
