import { stripVTControlCharacters, styleText } from 'node:util';

/** Colours of a terminal, or none. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** Colours when a person looks and did not refuse them (NO_COLOR); FORCE_COLOR asks for them anyway. */
export function createStyle(options: { readonly isTTY: boolean; readonly env: NodeJS.ProcessEnv }): Style {
  const { env, isTTY } = options;
  const isForced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  const isRefused = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb';
  const isColoured = isForced || (isTTY && !isRefused);
  const paint = (format: 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan') => (text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
  };
}

/** Text of somebody else, such as a plugin's, without what would move the cursor or repaint the screen. */
export function tame(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes.
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '');
}

/** Characters that nobody sees, that look like another, or that would move or turn what stands around them. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Variation_Selector}\u115f\u1160\u3164\uffa0]|\u034f|\u17b4|\u17b5/gu;
/** A blank, a tab, and what makes a sign before it a coloured picture. */
const usual: readonly string[] = [' ', '\t', '\ufe0f'];

/** A line of code that a person judges, with each character that nobody would see by its number: nothing in it is lost. */
export function reveal(line: string): string {
  return line.replace(unseen, (char) =>
    usual.includes(char) ? char : `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** How many columns of a terminal a character takes. */
export function columnsOf(char: string): number {
  if (/[\p{M}\p{Cf}]/u.test(char)) return 0;
  return wide.test(char) ? 2 : 1;
}
