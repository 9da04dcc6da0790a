import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanUntrustedText, describeUntrustedValue } from '../../src/permissions/untrusted-text.ts';

describe('cleanUntrustedText', () => {
  it.each([
    ['plain text, Ünïcödé and 日本語 stay', 'plain text, Ünïcödé and 日本語 stay'],
    ['a\u001b[31mb\u001b[0m\u001b[2J', 'ab'],
    ['a\u001b]0;title\u0007b\u009b31mc', 'abc'],
    ['one\r\ntwo\n\n\n  three\t\u2028four\u0085five', 'one two three four five'],
    ['\u202ereversed\u202c \u2066x\u2069 \u200e\u200f\u061c', 'reversed x'],
    ['a\u200bb\u00adc\ufeffd\u{e0041}\u{e007f}e\u3164f', 'abcdef'],
    ['\u0000\u0007\u0008bell', 'bell'],
    ['\ud800lone', '\ufffdlone'],
    [`z${'\u0301'.repeat(500)}!`, `z${'\u0301'.repeat(4)}!`],
    ['', ''],
  ])('%j becomes %j', (text, clean) => {
    expect(cleanUntrustedText(text)).toBe(clean);
  });

  it('makes one bounded paragraph of anything, which stays as it is when it is cleaned again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 60 }), (text, longest) => {
        const clean = cleanUntrustedText(text, longest);
        expect(Array.from(clean).length).toBeLessThanOrEqual(longest);
        expect(clean).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/u);
        expect(cleanUntrustedText(clean)).toBe(clean);
      }),
    );
  });

  it('costs the same for a text of any length', () => {
    expect(Array.from(cleanUntrustedText('\u200b'.repeat(20_000_000)))).toHaveLength(1);
    expect(cleanUntrustedText('x'.repeat(20_000_000))).toHaveLength(2000);
  });
});

describe('describeUntrustedValue', () => {
  it('writes what cannot be seen as escapes, and reads as the same JSON', () => {
    const value = { 'k\u202e': 'a\u200bb\u001b[31m\u2028', n: [1, null] };
    const text = describeUntrustedValue(value, 2);
    expect(text).toContain('\\u001b[31m');
    expect(text).not.toMatch(/[\p{Cf}\p{Zl}]/u);
    expect(JSON.parse(text)).toEqual(value);
  });

  it('drops nothing: blanks of every width and piled marks are written, too', () => {
    const value = { a: `x\u00a0y\u3000z\u2800`, b: `e${'\u0301'.repeat(40)}` };
    const text = describeUntrustedValue(value);
    expect(text).not.toMatch(/(?! )\p{Zs}|\u2800|\p{M}{5}/u);
    expect(JSON.parse(text)).toEqual(value);
  });

  it('describes what is no JSON', () => {
    expect(describeUntrustedValue(undefined)).toBe('undefined');
  });
});
