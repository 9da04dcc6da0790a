/** One value of a table. */
export type Cell = string | number | boolean | null;
/** One row, by column. */
export type Row = Record<string, Cell>;

/** RFC 4180: fields may be quoted, quotes inside are doubled, quoted fields may hold separators and line breaks. */
export function parseCsv(text: string, delimiter: string): string[][] {
  if (delimiter.length !== 1) throw new TypeError(`The delimiter must be one character, and is "${delimiter}".`);
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    const field = text[at] === '"' ? readQuoted(text, at) : readPlain(text, at, delimiter);
    record.push(field.value);
    at = field.end;
    if (text[at] === delimiter) {
      at += 1;
      if (at === text.length) record.push('');
      continue;
    }
    if (at < text.length && text[at] !== '\n' && text[at] !== '\r') {
      throw new SyntaxError(
        `After the quoted field in record ${records.length + 1} a separator or line break must follow, not "${text[at]}".`,
      );
    }
    at += text.startsWith('\r\n', at) ? 2 : 1;
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  }
  if (record.length > 0) records.push(record);
  return records;
}

interface Field {
  readonly value: string;
  readonly end: number;
}

function readQuoted(text: string, start: number): Field {
  let end = text.indexOf('"', start + 1);
  while (text[end + 1] === '"' && end !== -1) end = text.indexOf('"', end + 2);
  if (end === -1) throw new SyntaxError(`The quote opened at character ${start + 1} is never closed.`);
  return { value: text.slice(start + 1, end).replaceAll('""', '"'), end: end + 1 };
}

function readPlain(text: string, start: number, delimiter: string): Field {
  let end = start;
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return { value: text.slice(start, end), end };
}

/** The separator that occurs most in the first line, outside of quotes. */
export function guessDelimiter(text: string): string {
  const line = (text.split(/\r?\n/, 1)[0] ?? '').replace(/"[^"]*"/g, '');
  const count = (delimiter: string) => line.split(delimiter).length;
  return [',', ';', '\t', '|'].reduce((best, candidate) => (count(candidate) > count(best) ? candidate : best));
}

/** Rows as CSV text with a header and CRLF, quoted where needed. */
export function writeCsv(columns: readonly string[], rows: readonly Row[]): string {
  const quote = (cell: Cell) => {
    const text = String(cell ?? '');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map(quote), ...rows.map((row) => columns.map((column) => quote(row[column] ?? null)))];
  return `${lines.map((line) => line.join(',')).join('\r\n')}\r\n`;
}
