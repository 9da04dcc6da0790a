import { columnsOf, type Style, tame } from './style.ts';

/** One column: its head and what a row shows in it. */
export interface Column<Row> {
  readonly head: string;
  readonly text: (row: Row) => string;
  readonly paint?: (text: string, row: Row) => string;
}

const gap = '  ';
const narrowest = 8;

/** Rows under heads, aligned; the last column is cut to the width of the terminal, if there is one. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width?: number): string {
  const cells = rows.map((row) => columns.map((column) => firstLine(tame(column.text(row)))));
  const widths = columns.map((column, index) => Math.max(column.head.length, ...cells.map((line) => widthOf(line[index] ?? ''))));
  const lastIndex = columns.length - 1;
  if (width !== undefined) {
    const used = widths.slice(0, lastIndex).reduce((sum, each) => sum + each + gap.length, 0);
    widths[lastIndex] = Math.max(narrowest, width - used);
  }
  const shape = (text: string, index: number): string => {
    const room = widths[index] ?? 0;
    const used = widthOf(text);
    if (index === lastIndex) return width !== undefined && used > room ? `${cutTo(text, room - 1)}…` : text;
    return text + ' '.repeat(Math.max(0, room - used));
  };
  const head = columns.map((column, index) => shape(column.head, index)).join(gap);
  const lines = rows.map((row, at) =>
    columns
      .map((column, index) => {
        const text = shape(cells[at]?.[index] ?? '', index);
        return column.paint === undefined ? text : column.paint(text, row);
      })
      .join(gap),
  );
  return `${[head, ...lines].map((line) => line.trimEnd()).join('\n')}\n`;
}

/** What is known of one thing, a fact a line under its label; what is absent or empty is left out. */
export function renderFacts(facts: ReadonlyArray<readonly [string, string | undefined]>, style: Style, indent = '  '): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length)) + gap.length;
  const margin = `\n${indent}${' '.repeat(width)}`;
  return facts
    .map(([label, text = '']) =>
      text === '' ? '' : `${indent}${style.dim(label.padEnd(width))}${text.replaceAll('\n', margin)}\n`,
    )
    .join('');
}

function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += columnsOf(char);
  return width;
}

function cutTo(text: string, room: number): string {
  let width = 0;
  let end = 0;
  for (const char of text) {
    width += columnsOf(char);
    if (width > room) break;
    end += char.length;
  }
  return text.slice(0, end);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
