import type { Change, Fixer } from './fixer.ts';
import { blankTexts, closerOf, listBrackets, listLines, type ScannedLine } from './scan-brackets.ts';
import { edit, findPerFile, keepParsing, lineAt } from './text-edits.ts';

const maxCandidates = 120;
const maxOffered = 3;
/** How a block that was opened at the end of a line may end, by its bracket. */
const ends: Readonly<Record<string, readonly string[]>> = {
  '{': ['}', '},', '});', '}),', '})', '} }', '};', '}]', '}],'],
  '(': [')', ');', '),'],
  '[': [']', '],', '];', ']);'],
};

/** Closes what is open and takes out what closes nothing: sure where the indentation, or the syntax, leaves one place. */
export const mendBrackets: Fixer = (diagnosis, parts) =>
  findPerFile(diagnosis, async (faulty) => {
    const blank = blankTexts(faulty.text);
    const [byLayout] = await keepParsing(parts, faulty, closeByLayout(blank));
    if (byLayout !== undefined) return [byLayout];
    const { open, extra } = findUnpaired(blank);
    const extraChanges = extra === undefined ? [] : await keepParsing(parts, faulty, takeOut(faulty.text, blank, extra));
    const openChanges = open === undefined ? [] : await keepParsing(parts, faulty, closeInLine(faulty.text, blank, open));
    const isSureExtra = extra !== undefined && isLineOfClosers(blank, extra) && !hasLostOpener(blank);
    const offer = (changes: readonly Change[], isSure: boolean): Change[] =>
      changes.slice(0, maxOffered).map((change) => (isSure ? { ...change, sureness: 'sure' } : change));
    return [...offer(extraChanges, isSureExtra), ...offer(openChanges, openChanges.length === 1)];
  });

/** Lines that end in an opening bracket, and of which the next line that is indented no further does not close it. */
function closeByLayout(blank: string): Change[] {
  const lines = listLines(blank).filter(({ isBlank }) => !isBlank);
  const unclosed = lines.flatMap((line, index) => {
    const closer = closerOf[line.lastChar];
    if (closer === undefined) return [];
    const next = lines.slice(index + 1).find(({ indent }) => indent <= line.indent);
    return next !== undefined && next.indent === line.indent && ')]}'.includes(next.firstChar) ? [] : [{ line, next }];
  });
  const [only] = unclosed;
  if (only === undefined || unclosed.length > 1) return [];
  const { line, next } = only;
  const at = next?.start ?? lines.at(-1)?.end ?? 0;
  const indent = ' '.repeat(line.indent);
  return (ends[line.lastChar] ?? []).map((end) => ({
    edits: [edit(at, 0, next === undefined ? `\n${indent}${end}` : `${indent}${end}\n`)],
    note: `"${end}" was missing: what line ${lineNumber(blank, line)} opens was not closed.`,
    // At its end a text may have lost more than brackets, and a block of nothing was hardly meant.
    sureness: (next === undefined && !isEnd(lines.at(-1))) || next === lines[lines.indexOf(line) + 1] ? 'maybe' : 'sure',
  }));
}

function isEnd(line: ScannedLine | undefined): boolean {
  return line !== undefined && ')]}'.includes(line.firstChar);
}

/** The first bracket that closes nothing, and the last that is not closed where another one is. */
function findUnpaired(blank: string): { open?: number; extra?: number } {
  const stack: { char: string; at: number }[] = [];
  for (const { char, at } of listBrackets(blank)) {
    if (closerOf[char] !== undefined) {
      stack.push({ char, at });
      continue;
    }
    const top = stack.at(-1);
    if (top === undefined) return { extra: at };
    if (closerOf[top.char] === char) stack.pop();
    else if (stack.at(-2) !== undefined && closerOf[stack.at(-2)?.char ?? ''] === char) return { open: top.at, extra: at };
    else return { extra: at };
  }
  const last = stack.at(-1);
  return last === undefined ? {} : { open: last.at };
}

/** Without one of the brackets of its kind that stand shortly before it, or without itself. */
function takeOut(text: string, blank: string, extra: number): Change[] {
  const char = blank[extra] ?? '';
  const from = lineAt(text, Math.max(0, lineAt(text, Math.max(0, lineAt(text, extra).start - 1)).start - 1)).start;
  const places = listBrackets(blank).filter((bracket) => bracket.char === char && bracket.at >= from && bracket.at <= extra);
  return places.slice(-maxCandidates).map(({ at }) => ({
    edits: [edit(at, 1, '')],
    note: `"${char}" closed nothing.`,
    sureness: 'maybe' as const,
  }));
}

/** Whether a brace stands twice where blocks end: at the end of a line of nothing else, or on a line like the one before. */
function isLineOfClosers(blank: string, at: number): boolean {
  const lines = listLines(blank).filter(({ isBlank }) => !isBlank);
  const index = lines.findIndex(({ start, end }) => start <= at && at <= end);
  const [before, own] = [lines[index - 1], lines[index]].map((line) =>
    line === undefined ? '' : blank.slice(line.start, line.end).trimEnd(),
  );
  return blank[at] === '}' && (/^\s*\}\}[),;\]]*$/.test(own ?? '') || (own === before && /^\s*\}[,;]?$/.test(own ?? '')));
}

/** Whether some line goes on in a block that nothing opened: then that is what is wrong. */
function hasLostOpener(blank: string): boolean {
  const lines = listLines(blank).filter(({ isBlank }) => !isBlank);
  return lines.some((line, index) => {
    const next = lines[index + 1];
    const ends = blank.slice(Math.max(line.start, line.lastAt - 12), line.lastAt + 1);
    return (
      next !== undefined &&
      next.indent > line.indent &&
      /(?:\)|=>|\b(?:else|try|do|finally)|[\w$])$/.test(ends) &&
      !'.?:&|+'.includes(next.firstChar)
    );
  });
}

/** With the closing bracket at one of the places in the rest of the line where a term ends. */
function closeInLine(text: string, blank: string, open: number): Change[] {
  const closer = closerOf[blank[open] ?? ''] ?? ')';
  const { end } = lineAt(text, open);
  const rest = blank.slice(open + 1, Math.min(end, open + 2000));
  // A call without arguments: what follows can begin none.
  const atOnce = /[\w$]$/.test(blank.slice(0, open)) && /^\s*[,;:)\]}.?]/.test(rest) ? [open + 1] : [];
  const afterTerms = Array.from(
    rest.matchAll(/(?<=[\w$)\]}"'`_])(?=\s*(?:[,;:)\]}+\-*/?&|<>=.%]|$))/g),
    ({ index }) => open + 1 + index,
  );
  return [...atOnce, ...afterTerms].slice(0, maxCandidates).map((at) => ({
    edits: [edit(at, 0, closer)],
    note: `"${closer}" was missing.`,
    sureness: 'maybe' as const,
  }));
}

function lineNumber(text: string, { start }: ScannedLine): number {
  return text.slice(0, start).split('\n').length;
}
