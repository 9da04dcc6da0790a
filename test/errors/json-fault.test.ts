import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from '../../src/errors/json-fault.ts';

describe('findJsonFault', () => {
  it.each([
    ['{"a": x}', 1, 7, '"x"'],
    ['{"a": 1,}', 1, 9, '"}"'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, '"\\""'],
    ['{"a": [1, 2}', 1, 12, '"}"'],
    ["{'a': 1}", 1, 2, `"'"`],
    ['{"ä😀": 1, b}', 1, 11, '"b"'],
    ['{"a": "b', 1, 9, 'the end of the text'],
    ['{"a": "b\n"}', 1, 9, '"\\n"'],
    ['{"a": "\\x"}', 1, 8, '"\\\\"'],
    ['{"a": 01}', 1, 8, '"1"'],
    ['{} {}', 1, 4, '"{"'],
    [' ', 1, 2, 'the end of the text'],
    ['{"a" 1}', 1, 6, '"1"'],
  ])('says where %j stops being JSON', (text, line, column, found) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(findJsonFault(text)).toEqual({ line, column, found });
  });

  it('finds a fault in exactly those texts that are no JSON', () => {
    const isJson = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      '0',
      '.5',
      'e1',
      'true',
      'nul',
      ' ',
      '\n',
      '"',
      '\\u00',
    );
    const texts = fc.oneof(
      fc.json(),
      fc.array(pieces, { maxLength: 8 }).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(findJsonFault(text) === undefined).toBe(isJson(text));
      }),
    );
  });
});
