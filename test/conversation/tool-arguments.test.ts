import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonPrefix } from '../../src/conversation/json-prefix.ts';
import { argumentsValue, readToolArguments } from '../../src/conversation/tool-arguments.ts';

describe('readToolArguments', () => {
  it.each([
    ['', 'valid', {}],
    [' \n', 'valid', {}],
    ['null', 'valid', {}],
    ['{"a": 1}', 'valid', { a: 1 }],
    [`{'a': 'b'}`, 'mended', { a: 'b' }],
    ['{"a": 1,}', 'mended', { a: 1 }],
    ['{a: 1}', 'mended', { a: 1 }],
    ['{"a": {"b": [1, 2', 'mended', { a: { b: [1, 2] } }],
    ['{"a": "x\ny"}', 'mended', { a: 'x\ny' }],
    ['"{\\"a\\": 1}"', 'mended', { a: 1 }],
    ['{"a":1}{"a":1}', 'mended', { a: 1 }],
    ['{}{"a":1}', 'mended', { a: 1 }],
    ['```json\n{"a": 1}\n```', 'mended', { a: 1 }],
  ])('reads %j as %s', (text, state, value) => {
    const read = readToolArguments(text);
    expect([read.state, argumentsValue(read)]).toEqual([state, value]);
  });

  it.each([
    ['[1]', 'a list'],
    ['3', 'a number'],
    ['I would call it with 3.', 'not valid JSON'],
    ['{"a":1}{"b":2}', 'not valid JSON'],
  ])('keeps %j as broken, with a sentence for the model', (text, what) => {
    expect(readToolArguments(text)).toMatchObject({ state: 'broken', text, problem: expect.stringContaining(what) });
    expect(argumentsValue(readToolArguments(text))).toEqual({ invalid_arguments: text });
  });

  it('never completes what was cut off', () => {
    for (const text of ['{"path": "/tmp/fo', '{"a": 1', ''])
      expect(readToolArguments(text, { isCut: true }).state).toBe('broken');
    expect(readToolArguments('{"a": 1}', { isCut: true }).state).toBe('valid');
  });

  it('survives what nests without end', () => {
    for (const open of ['[', '{"a":']) expect(readToolArguments(open.repeat(200_000)).state).toBe('broken');
  });
});

describe('createJsonPrefix', () => {
  const anyObject = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
  const anyText = fc.tuple(anyObject, fc.nat({ max: 2 })).map(([value, indent]) => JSON.stringify(value, undefined, indent));
  const passOn = (text: string, size: number): string => {
    const prefix = createJsonPrefix();
    let passed = '';
    for (let at = 0; at < text.length; at += size) passed += prefix.push(text.slice(at, at + size));
    return passed;
  };

  it('passes a sound object on but for its end, however it is cut', () => {
    const property = fc.property(anyText, fc.integer({ min: 1, max: 9 }), (text, size) => {
      const passed = passOn(text, size);
      expect(text.startsWith(passed)).toBe(true);
      // What waits is closing marks and the space before them, and a quotation mark at the end of a string.
      expect(text.slice(passed.length)).toMatch(/^(?:\\?"|[\s}\],])*$/);
    });
    fc.assert(property);
  });

  it.each([
    [`{"a": 'x'}`, '{"a":'],
    ['{"a": "he said "hi" x"}', '{"a": "he said '],
    ['{"a": 1, }', '{"a": 1'],
    ['{"a": 1}{"a": 1}', '{"a": 1'],
    ['[1]', ''],
    ['"{}"', ''],
    ['{"a": tru e}', '{"a": tru'],
    ['{"a": "\\x"}', '{"a":'],
  ])('passes of %j only what a repair keeps', (text, passed) => {
    expect(passOn(text, 1)).toBe(passed);
  });
});
