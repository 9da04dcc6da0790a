import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

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
  #isBroken = false;

  /** Opens the file, or makes it. Throws what the file system throws. */
  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'a', 0o600);
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
    if (this.#isBroken || this.#bytes > maxBytes) return false;
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

  /** Everything in it is in the database. */
  clear(): void {
    if (this.#bytes > 0) this.#cut(0);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** What cannot be cut would stand before later lines, which nobody could tell from it. */
  #cut(bytes: number): void {
    try {
      ftruncateSync(this.#file, bytes);
      this.#bytes = bytes;
    } catch {
      this.#isBroken = true;
    }
  }
}
