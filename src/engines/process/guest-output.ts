import { StringDecoder } from 'node:string_decoder';
import type { GuestTurn } from './guest-call.ts';

const maxLine = 16_384;
/** A process writes no more than this in its life; console.log does not count, it takes the channel. */
const maxOutputBytes = 64 * 1024 * 1024;
const maxLastWords = 4000;

/** What a process writes itself, in lines: they go to the log of the turn that runs in it. */
export class GuestOutput {
  /** None while nothing runs in it. */
  turn: GuestTurn | undefined;
  readonly stdout: (chunk: Buffer) => void;
  readonly stderr: (chunk: Buffer) => void;
  #lastWords = '';

  /** `onFlood` is called when it writes without end. */
  constructor(onFlood: () => void) {
    this.stdout = splitLines((text) => this.#tell('info', text), onFlood);
    this.stderr = splitLines((text) => {
      this.#lastWords = `${this.#lastWords}${text}\n`.slice(-maxLastWords);
      this.#tell('warn', text);
    }, onFlood);
  }

  /** The last lines of its standard error. */
  get lastWords(): string {
    return this.#lastWords;
  }

  #tell(level: 'info' | 'warn', text: string): void {
    this.turn?.log({ level, text, atMs: Date.now() });
  }
}

/** Cuts what a process writes into lines of bounded length; `onFlood` is called when it writes without end. */
export function splitLines(onLine: (text: string) => void, onFlood: () => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    if (total > maxOutputBytes) return onFlood();
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = (lines.pop() ?? '').slice(0, maxLine);
    for (const line of lines) if (line !== '') onLine(line.slice(0, maxLine));
  };
}
