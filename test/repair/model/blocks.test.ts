import { describe, expect, it } from 'vitest';
import { applyBlocks } from '../../../src/repair/model/blocks.ts';

const files = new Map([['a.ts', 'one\ntwo\ntwo\nthree\n']]);
const textOf = (answer: string) => {
  const applied = applyBlocks(answer, files);
  return applied.ok ? applied.texts.get('a.ts') : applied.problem;
};
const replace = (search: string, text: string, file = 'a.ts') =>
  `<<<<<<< SEARCH ${file}\n${search}\n=======\n${text}\n>>>>>>> REPLACE\n`;

describe('applyBlocks', () => {
  it('replaces lines, in order, with prose around them', () => {
    expect(textOf(`Here:\n${replace('one', 'ONE')}and\n${replace('ONE\ntwo\ntwo', '2')}`)).toBe('2\nthree\n');
  });

  it('takes a whole file, and texts with what stands for something in replacements', () => {
    expect(textOf('<<<<<<< WHOLE a.ts\n$& $1\n>>>>>>> END')).toBe('$& $1\n');
    expect(textOf(replace('one', '$& $1'))).toBe('$& $1\ntwo\ntwo\nthree\n');
  });

  it('reads line ends of any kind', () => {
    expect(textOf(replace('one', 'ONE').replaceAll('\n', '\r\n'))).toBe('ONE\ntwo\ntwo\nthree\n');
  });

  it('finds the last line of a file that does not end it, and keeps the line ends of the file', () => {
    const change = (text: string, answer: string) => {
      const applied = applyBlocks(answer, new Map([['a.ts', text]]));
      return applied.ok ? applied.texts.get('a.ts') : applied.problem;
    };
    expect(change('one\ntwo', replace('two', 'TWO'))).toBe('one\nTWO');
    expect(change('one\ntwo', replace('one', 'ONE'))).toBe('ONE\ntwo');
    expect(change('one\r\ntwo\r\n', replace('one\ntwo', 'ONE'))).toBe('ONE\r\n');
    expect(change('one\r\ntwo', replace('two', 'TWO\nthree'))).toBe('one\r\nTWO\r\nthree');
    expect(change('one\r\n', '<<<<<<< WHOLE a.ts\nx\n>>>>>>> END')).toBe('x\r\n');
    expect(change('one\r\ntwo\n', replace('two', 'TWO'))).toBe('one\r\nTWO\n');
  });

  it.each([
    ['no block', 'I would change the first line.', 'no block'],
    ['a block without an end', '<<<<<<< SEARCH a.ts\none\n=======\nONE\n', 'no end'],
    ['a block without a middle', '<<<<<<< SEARCH a.ts\none\n>>>>>>> REPLACE', 'no line ======='],
    ['a block in a block', '<<<<<<< SEARCH a.ts\n<<<<<<< SEARCH a.ts\n', 'before the one of a.ts has ended'],
    ['a marker of another kind', '<<<<<<< HEAD\none\n', 'no marker'],
    ['a wrong end', '<<<<<<< WHOLE a.ts\nx\n>>>>>>> REPLACE', 'stands inside'],
    ['lines that are not there', replace('four', 'x'), 'are not in a.ts'],
    ['lines that are there twice', replace('two', 'x'), '2 times'],
    ['nothing to look for', replace('', 'x'), 'empty'],
    ['a file that was not shown', replace('one', 'x', '../../etc/passwd'), 'no file'],
    ['no change', replace('one', 'one'), 'change nothing'],
    ['an endless text', 'x'.repeat(600_000), 'at most'],
    ['blocks without number', replace('one', 'one').repeat(60), 'more than 50'],
  ])('learns from %s', (_what, answer, problem) => {
    expect(textOf(answer)).toContain(problem);
  });
});
