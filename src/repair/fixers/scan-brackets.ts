/** A bracket of the code, not of a string, comment or regular expression. */
export interface Bracket {
  readonly char: string;
  readonly at: number;
}

/** A line of code as far as brackets go. */
export interface ScannedLine {
  readonly start: number;
  readonly end: number;
  readonly indent: number;
  /** Nothing but space and comments. */
  readonly isBlank: boolean;
  readonly firstChar: string;
  /** The last character of code, and where it stands. */
  readonly lastChar: string;
  readonly lastAt: number;
}

/** Pairs of brackets. */
export const closerOf: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

const skipped =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?|`(?:[^`\\]|\\[\s\S])*`?|(?<=(?:^|[=(,:[!&|?{};\n]|=>|\breturn)[ \t]*)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;

/** Blanks out strings, comments and regular expressions: every place stays where it is. */
export function blankTexts(text: string): string {
  return text.replace(skipped, (found) =>
    found.startsWith('/')
      ? found.replace(/[^\n]/g, ' ')
      : found.replace(/[^\n]/g, (_, index: number) => (index === 0 ? '"' : '_')),
  );
}

/** The brackets of a blanked text in order. */
export function listBrackets(blank: string): Bracket[] {
  return Array.from(blank.matchAll(/[()[\]{}]/g), ({ 0: char, index }) => ({ char, at: index }));
}

/** The lines of a blanked text. */
export function listLines(blank: string): ScannedLine[] {
  let start = 0;
  return blank.split('\n').map((line) => {
    const code = line.trimEnd();
    const own = { start, end: start + line.length, indent: code.length - code.trimStart().length };
    start += line.length + 1;
    const lastChar = code.at(-1) ?? '';
    return { ...own, isBlank: code === '', firstChar: code.trimStart()[0] ?? '', lastChar, lastAt: own.start + code.length - 1 };
  });
}
