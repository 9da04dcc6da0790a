import type { Change, Fixer } from './fixer.ts';
import { edit, findPerFile, keepParsing, lineAt } from './text-edits.ts';

const unterminatedString = 1002;
const maxPlaces = 40;

/** Closes a string that its line does not: sure where nothing but the end of the statement follows its words. */
export const closeQuotes: Fixer = (diagnosis, parts) =>
  findPerFile(
    diagnosis,
    async (faulty, fault) => {
      const line = lineAt(faulty.text, fault.start);
      const opened = findOpening(line.text);
      if (opened === undefined) return [];
      const { quote, at: from } = opened;
      const words = line.text.slice(from + 1);
      const tail = tailOf(words);
      const ends = [...new Set([...tail].map((_, index) => words.length - tail.length + index)).add(words.length)];
      const note = `The text in line ${fault.line} had no end.`;
      const propose = (places: readonly number[]): Change => ({
        edits: places.map((at) => edit(line.start + at, 0, quote)),
        note,
        sureness: 'maybe',
      });
      const closings = ends.slice(0, maxPlaces).map((end) => propose([from + 1 + end]));
      const opening = propose(findMissingOpening(line.text, from, quote));
      const parsing = await keepParsing(parts, faulty, [...closings, opening]);
      // Where a closing bracket may belong to the text, or it has words that look like code, or none at all, more than one end is possible.
      const said = words.slice(0, words.length - tail.length);
      const isPlain = /[\p{L}\d]/u.test(said) && !/[,;(){}[\]'"`=]/.test(said);
      const isSure = (change: Change, index: number) => isPlain && index === 0 && closings.includes(change);
      return parsing.slice(0, 3).map((change, index) => ({ ...change, sureness: isSure(change, index) ? 'sure' : 'maybe' }));
    },
    ({ code }) => code === unterminatedString,
  );

/** What follows the words of a text on its line: signs that end a statement. */
function tailOf(words: string): string {
  let at = words.length;
  while (at > 0 && ' \t\r,;)]}'.includes(words[at - 1] ?? '')) at--;
  return words.slice(at);
}

/** The last quote of a line that opens a string which the line does not close. */
function findOpening(line: string): { quote: string; at: number } | undefined {
  let open: { quote: string; at: number } | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? '';
    if (char === '\\' && open) at++;
    else if (open?.quote === char) open = undefined;
    else if (!open && `'"\``.includes(char)) open = { quote: char, at };
  }
  return open;
}

/** For a quote that closes what was not opened: before the word after the last sign of code. */
function findMissingOpening(line: string, closing: number, quote: string): number[] {
  const before = /[:(,=[]\s*([\p{L}\d][^:(,=[\]'"`]*)$/u.exec(line.slice(0, closing));
  return before?.[1] === undefined || quote === '`' ? [] : [closing - before[1].length];
}
