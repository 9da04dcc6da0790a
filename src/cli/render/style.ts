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
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
