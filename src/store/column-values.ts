import type { SQLOutputValue } from 'node:sqlite';

/** One row as SQLite hands it out. */
export type SqlRow = Readonly<Record<string, SQLOutputValue>>;

/** The columns are declared STRICT, so another type than the asked one is a bug or a damaged file. */
function refuse(row: SqlRow, column: string, wanted: string): never {
  throw new TypeError(`Column ${column} should be ${wanted} and is ${typeof row[column]}.`);
}

export function readText(row: SqlRow, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : refuse(row, column, 'text');
}

export function readTextOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : readText(row, column);
}

export function readNumber(row: SqlRow, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : refuse(row, column, 'a number');
}

export function readNumberOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : readNumber(row, column);
}

export function readBytes(row: SqlRow, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? value : refuse(row, column, 'bytes');
}

/** Reads a text that the schema's CHECK keeps to a few words. */
export function readWord<Word extends string>(row: SqlRow, column: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === row[column]);
  return word ?? refuse(row, column, words.join(' or '));
}
