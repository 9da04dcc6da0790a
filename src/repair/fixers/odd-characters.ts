import type { TextEdit } from '../../typescript/check-types.ts';
import type { Fixer } from './fixer.ts';
import { blankTexts } from './scan-brackets.ts';
import { edit, failingText, faultyTexts } from './text-edits.ts';

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
const note = 'Characters of a word processor stood where code needs plain ones.';

/** Replaces typographic quotes and the like where no code can have them; inside of texts they stay. */
export const replaceOddCharacters: Fixer = (diagnosis) => {
  const failing = diagnosis.failure.class === 'does-not-compile' ? failingText(diagnosis) : undefined;
  const hidden =
    failing === undefined ? [] : [{ file: failing, edits: findHidden(failing.text), note, sureness: 'sure' } as const];
  const seen = faultyTexts(diagnosis, ({ code }) => code === invalidCharacter).map((file) => {
    const edits = file.faults.flatMap(({ start }) => {
      const newText = meant.get(file.text[start] ?? '');
      return newText === undefined ? [] : [edit(start, 1, newText)];
    });
    const once = edits.filter(({ start }, index) => edits.findIndex((other) => other.start === start) === index);
    // A quote that ends in an apostrophe of its text would end there; then the syntax is wrong, and it is not taken.
    return { file, edits: once, note, sureness: 'sure' } as const;
  });
  return [...seen, ...hidden];
};

/** Characters that nobody sees, outside of texts: the language takes some of them for spaces, and the bundler none. */
function findHidden(text: string): TextEdit[] {
  return Array.from(blankTexts(text).matchAll(/[\u200b-\u200f\u2060\u00ad]/g), ({ index }) => edit(index, 1, ''));
}
