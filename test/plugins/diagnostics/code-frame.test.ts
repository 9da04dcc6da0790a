import { describe, expect, it } from 'vitest';
import { renderCodeFrame } from '../../../src/plugins/diagnostics/code-frame.ts';

describe('renderCodeFrame', () => {
  it('shows two lines around the place, and a caret under it', () => {
    const text = 'one\ntwo\n\tthree\nfour\nfive\nsix';
    expect(renderCodeFrame(text, { line: 3, column: 3 })).toBe(
      ['  1 | one', '  2 | two', '> 3 | \tthree', '    | \t ^', '  4 | four', '  5 | five'].join('\n'),
    );
  });

  it('is empty for a line that is not there', () => {
    expect(renderCodeFrame('one', { line: 9, column: 1 })).toBe('');
  });

  it('cuts a long line around the place', () => {
    const frame = renderCodeFrame(`${'a'.repeat(5000)}!${'b'.repeat(5000)}`, { line: 1, column: 5001 });
    const [line = '', caret = ''] = frame.split('\n');
    expect(line.length).toBeLessThan(200);
    expect(line[caret.indexOf('^')]).toBe('!');
  });

  it('lets no control character through to a terminal', () => {
    const frame = renderCodeFrame('a\u001b[2Jb\u202e', { line: 1, column: 1 });
    expect(['\u001b', '\u202e'].filter((character) => frame.includes(character))).toEqual([]);
  });
});
