import type { LogLine } from '../../border/border.ts';

/** The last lines of a log. */
export interface LogTail {
  add(line: LogLine): void;
  lines(): readonly LogLine[];
}

const maxLines = 200;
const maxChars = 32 * 1024;

/** Keeps the last lines of the log of one call; costs nothing until there is one. */
export function createLogTail(): LogTail {
  let lines: LogLine[] | undefined;
  let chars = 0;
  return {
    add({ level, text, atMs }) {
      const line = { level, text: text.slice(0, maxChars), atMs };
      lines ??= [];
      lines.push(line);
      chars += line.text.length;
      while (lines.length > maxLines || chars > maxChars) chars -= lines.shift()?.text.length ?? 0;
    },
    lines: () => lines ?? [],
  };
}
