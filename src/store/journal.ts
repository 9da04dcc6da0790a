import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { HotcellError } from '../errors/hotcell-error.ts';

/** The name of a table, and the values of one of its rows in the order of its columns. */
export type JournalEntry = readonly [table: string, ...values: (string | number | null)[]];

/** A journal this long is emptied into the database first: whoever starts after a kill has to read it. */
const maxBytes = 4 * 1024 * 1024;

/**
 * A file of the rows that somebody waits for and that the next transaction will write. To append them takes a twentieth of the time of a
 * transaction, and what a killed process has appended is there for the next one, which writes it into the database before anything else.
 */
export class Journal {
  readonly #path: string;
  readonly #file: number;
  #bytes = 0;
  /** More is in the file than that. */
  #hasExcess = false;

  /** Opens the file, or makes it. Throws `storage-failed` where something else has its name, which stays as it is. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openOwnFile(path);
  }

  /** What the last process left, line by line, up to one that was cut short. */
  readLeft(): unknown[][] {
    const bytes = readFileSync(this.#path);
    this.#bytes = bytes.length;
    const entries: unknown[][] = [];
    for (const line of bytes.toString('utf8').split('\n')) {
      try {
        const entry: unknown = JSON.parse(line);
        if (Array.isArray(entry)) entries.push(entry);
      } catch {
        break;
      }
    }
    return entries;
  }

  /** False when they are not in the file: only a transaction can keep them now. */
  append(entries: readonly JournalEntry[]): boolean {
    if (entries.length === 0) return true;
    if (this.#bytes > maxBytes || (this.#hasExcess && !this.#cut(this.#bytes))) return false;
    const text = Buffer.from(`${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`);
    try {
      if (writeSync(this.#file, text) === text.length) {
        this.#bytes += text.length;
        return true;
      }
    } catch {
      // What is half there is taken away below.
    }
    this.#cut(this.#bytes);
    return false;
  }

  /** Everything in it is in the database. False where it cannot be emptied. */
  clear(): boolean {
    return (this.#bytes === 0 && !this.#hasExcess) || this.#cut(0);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** What cannot be cut would stand before later lines, which nobody could tell from it: none comes until it is cut. */
  #cut(bytes: number): boolean {
    this.#bytes = bytes;
    try {
      ftruncateSync(this.#file, bytes);
      this.#hasExcess = false;
    } catch {
      this.#hasExcess = true;
    }
    return !this.#hasExcess;
  }
}

const openFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** What a link leads to, or what has a second name, is not the daemon's to write and to empty; a pipe would hold up the start. */
function openOwnFile(path: string): number {
  let file: number | undefined;
  try {
    file = openSync(path, openFlags, 0o600);
    const stats = fstatSync(file);
    if (stats.isFile() && stats.nlink === 1) return file;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ELOOP' && code !== 'EISDIR' && code !== 'ENXIO') throw error;
  }
  if (file !== undefined) closeSync(file);
  throw new HotcellError('storage-failed', `Expected ${path} to be a file of its own, got a link or no regular file.`, {
    fix: `See what it is. If it is nothing of yours, remove it: rm ${path}.`,
  });
}
