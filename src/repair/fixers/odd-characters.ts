import type { Fixer } from './fixer.ts';
import { edit, faultyTexts, toProposal } from './text-edits.ts';

/** What word processors and keyboards write for characters of code. What cannot be seen goes away. */
const meant: ReadonlyMap<string, string> = new Map([
  ...[...'‘’‚‛′＇'].map((quote) => [quote, "'"] as const),
  ...[...'“”„‟″＂«»'].map((quote) => [quote, '"'] as const),
  ...[...'\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f'].map((hidden) => [hidden, ''] as const),
  ...[...'（）［］｛｝，；：．＝＋＞＜！？'].map((wide) => [wide, String.fromCharCode(wide.charCodeAt(0) - 0xfee0)] as const),
  ['，', ','],
  ['。', '.'],
  ['…', '...'],
  ['–', '-'],
  ['−', '-'],
]);
const invalidCharacter = 1127;

/** Replaces typographic quotes and the like where no code can have them; inside of texts they stay. */
export const oddCharacters: Fixer = {
  name: 'odd-characters',
  sureness: 'sure',
  propose(diagnosis) {
    return faultyTexts(diagnosis, ({ code }) => code === invalidCharacter).flatMap(({ path, text, faults }) => {
      const edits = faults.flatMap(({ start }) => {
        const newText = meant.get(text[start] ?? '');
        return newText === undefined ? [] : [edit(start, 1, newText)];
      });
      const once = edits.filter(({ start }, index) => edits.findIndex((other) => other.start === start) === index);
      const note = 'Characters of a word processor stood where code needs plain ones.';
      // A quote that ends in an apostrophe of its text would end there; then the syntax is wrong, and it is not taken.
      return toProposal('odd-characters', { path, text }, { edits: once, note, sureness: 'sure' });
    });
  },
};
