/** Where a code frame points: 1-based line and column, columns counted in UTF-16 units. */
export interface CodePosition {
  readonly line: number;
  readonly column: number;
}

const linesAround = 2;
const maxLineLength = 160;

/** Renders the line at `position` with two lines around it and a caret under the column; empty when the line is not there. */
export function renderCodeFrame(text: string, position: CodePosition): string {
  const lines = sliceLines(text, position.line - linesAround, position.line + linesAround);
  const target = lines.find((line) => line.number === position.line);
  if (!target) return '';
  const width = String(lines.at(-1)?.number ?? position.line).length;
  const shift = Math.max(0, Math.min(position.column - 1, target.text.length) - maxLineLength + 20);
  return lines
    .flatMap((line) => {
      const gutter = `${line.number === position.line ? '>' : ' '} ${String(line.number).padStart(width)} |`;
      const rows = [`${gutter} ${visible(line.text, shift)}`.trimEnd()];
      if (line.number === position.line) rows.push(`  ${' '.repeat(width)} | ${caret(line.text, position.column, shift)}`);
      return rows;
    })
    .join('\n');
}

/** Takes lines `from` to `to` without splitting the whole text, which may have megabytes. */
function sliceLines(text: string, from: number, to: number): Array<{ number: number; text: string }> {
  const lines: Array<{ number: number; text: string }> = [];
  let start = 0;
  for (let number = 1; number <= to && start <= text.length; number++) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (number >= from) lines.push({ number, text: text.slice(start, end).replace(/\r$/, '') });
    start = end + 1;
  }
  return lines;
}

// Control characters other than tab could repaint a terminal that shows the frame.
function visible(line: string, shift: number): string {
  return line.slice(shift, shift + maxLineLength).replace(/[^\P{Cc}\t]|\p{Cf}/gu, '\ufffd');
}

function caret(line: string, column: number, shift: number): string {
  const before = line.slice(shift, Math.max(shift, Math.min(column - 1, line.length)));
  return `${before.replace(/[^\t]/g, ' ')}^`;
}
