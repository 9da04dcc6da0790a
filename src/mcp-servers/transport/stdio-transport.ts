import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { maxInputDepth, nestsDeeper } from '../../config/read/json-nesting.ts';
import type { ProgramEnd, RunningProgram } from './local-program.ts';
import { createMessagePace, type ReceivedBytes } from './stream-bounds.ts';

/** How a program is spoken with. */
export interface StdioOptions {
  /** Starts it; what it rejects with, the start of the transport does. */
  readonly open: () => Promise<RunningProgram>;
  readonly maxMessageBytes: number;
  readonly received: ReceivedBytes;
  /** Hears what it writes to its standard error. Must not throw. */
  readonly onErrorLine: (line: string) => void;
}

const maxErrorLineBytes = 64 * 1024;
/** A program whose input ended may end by itself; then it is asked to, then it is killed. */
const graceMs = 500;
/** Lines that are no messages: a program that writes nothing else is no server. */
const maxGarbageLines = 1000;
/** Of its last words so many are told when it ended by itself. */
const maxLastWords = 3;
const repeatMs = 50;
const repeatedShare = 1 / 20;
const maxRepeatedChars = 1000;
/**
 * Speaks with a program over its standard streams, and ends it with the connection. What is read is bounded, and a program that
 * floods waits.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** The client tells by its presence that silence means a server of the older era. */
  readonly stderr = null;
  readonly #options: StdioOptions;
  /** Answers are handled where the question was asked, so that what a server asks within a call is asked of that call. */
  readonly #contextsById = new Map<unknown, <R>(run: () => R) => R>();
  #program: RunningProgram | undefined;
  #last = { line: '', untilMs: 0 };
  #repeat: NodeJS.Timeout | undefined;
  #garbage = 0;
  readonly #lastWords: string[] = [];
  #isClosing = false;
  /** Why it ended by itself, as a sentence; its own words are its own. */
  ending: string | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  get pid(): number | null {
    return this.#program?.pid ?? null;
  }

  async start(): Promise<void> {
    const program = await this.#options.open();
    this.#program = program;
    void program.ended.then((end) => {
      if (!this.#isClosing) this.#sayEnding(end);
      this.#isClosing = true;
      destroyStreams(program);
      this.#contextsById.clear();
      clearTimeout(this.#repeat);
      this.onclose?.();
    });
    program.stdin.on('error', () => undefined);
    void this.#read(program);
    this.#readErrors(program);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#program ?? {};
    if (stdin === undefined || stdin.destroyed) throw new Error('The program does not run.');
    if ('method' in message && 'id' in message) this.#contextsById.set(message.id, AsyncLocalStorage.snapshot());
    if ('method' in message && message.method === 'notifications/cancelled') this.#contextsById.delete(message.params?.requestId);
    if (stdin.write(`${JSON.stringify(message)}\n`)) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        stdin.off('drain', go);
        stdin.off('close', go);
        resolve();
      };
      stdin.on('drain', go).on('close', go);
    });
  }

  async close(): Promise<void> {
    const program = this.#program;
    this.#isClosing = true;
    if (program === undefined) return;
    program.stdin.end();
    if (!(await endsWithin(program, graceMs))) {
      program.signal('SIGTERM');
      if (!(await endsWithin(program, graceMs))) program.signal('SIGKILL');
    }
    destroyStreams(program);
    await program.ended;
  }

  #sayEnding({ sentence, hasLastWords }: ProgramEnd): void {
    const said = this.#lastWords.length === 0 ? 'said nothing' : `said: ${this.#lastWords.join(' / ')}`;
    this.ending = hasLastWords ? `${sentence} To its standard error it ${said}` : sentence;
    this.onerror?.(new Error(this.ending));
  }

  /** Reads on when what was read is dealt with: the pipe holds back a program that writes faster. */
  async #read({ stdout }: RunningProgram): Promise<void> {
    const reader = createLineReader(this.#options.maxMessageBytes);
    const pace = createMessagePace();
    try {
      for await (const chunk of stdout) {
        this.#options.received.add(chunk.length);
        for (const line of reader.push(chunk)) {
          if (this.#isRepeated(line)) await pace.note(repeatedShare);
          else {
            this.#take(line);
            await pace.note(1);
          }
        }
      }
    } catch (error) {
      if (error instanceof RangeError) this.onerror?.(error);
      await this.close();
    }
  }

  /** The same notification again, at once: it is passed on a moment later, once for all that came meanwhile. */
  #isRepeated(line: string): boolean {
    const nowMs = performance.now();
    const isSame = line === this.#last.line && nowMs < this.#last.untilMs;
    if (!isSame) {
      this.#last = { line: line.includes('"id"') || line.length > maxRepeatedChars ? '' : line, untilMs: nowMs + repeatMs };
      return false;
    }
    this.#repeat ??= setTimeout(() => {
      this.#repeat = undefined;
      this.#take(line);
    }, repeatMs);
    return true;
  }

  #take(line: string): void {
    if (nestsDeeper(line, maxInputDepth)) throw new RangeError(`A message nests deeper than ${maxInputDepth} levels.`);
    const message = readMessage(line);
    if (message === undefined) {
      this.#garbage += 1;
      if (this.#garbage > maxGarbageLines) throw new RangeError('The program writes lines that are no messages.');
      return;
    }
    const isAnswer = !('method' in message);
    const run = isAnswer ? this.#contextsById.get(message.id) : undefined;
    if (isAnswer) this.#contextsById.delete(message.id);
    if (run === undefined) this.onmessage?.(message);
    else run(() => this.onmessage?.(message));
  }

  #readErrors({ stderr }: RunningProgram): void {
    let reader = createLineReader(maxErrorLineBytes);
    stderr.on('error', () => undefined);
    stderr.on('data', (chunk: Buffer) => {
      try {
        for (const line of reader.push(chunk)) {
          this.#options.onErrorLine(line);
          if (line.trim() !== '') this.#lastWords.push(line.trim().slice(0, 200));
          if (this.#lastWords.length > maxLastWords) this.#lastWords.shift();
        }
      } catch {
        reader = createLineReader(maxErrorLineBytes);
      }
    });
  }
}

function readMessage(line: string): JSONRPCMessage | undefined {
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}

async function endsWithin({ ended }: RunningProgram, ms: number): Promise<boolean> {
  const over = new AbortController();
  const late = wait(ms, false, { signal: over.signal });
  late.catch(() => {});
  const isOver = await Promise.race([ended.then(() => true), late]);
  over.abort();
  return isOver;
}

function destroyStreams({ stdin, stdout, stderr }: RunningProgram): void {
  for (const stream of [stdin, stdout, stderr]) stream.destroy();
}

const newline = 0x0a;

/** Creates a reader of lines of at most `maxBytes` bytes. */
export function createLineReader(maxBytes: number) {
  let pieces: Buffer[] = [];
  let held = 0;

  function take(last: Buffer): string {
    const line = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
    pieces = [];
    held = 0;
    return line.toString('utf8').trim();
  }

  function keep(rest: Buffer): void {
    held += rest.length;
    if (held > maxBytes) {
      pieces = [];
      held = 0;
      throw new RangeError(`A message has more than the ${maxBytes} bytes that are read of a server.`);
    }
    if (rest.length > 0) pieces.push(rest);
  }

  return {
    /** Throws a RangeError for a line that is too long. */
    push(chunk: Buffer): string[] {
      const lines: string[] = [];
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        if (held + end - start > maxBytes) keep(chunk.subarray(start, end));
        const line = take(chunk.subarray(start, end));
        if (line !== '') lines.push(line);
        start = end + 1;
      }
      keep(chunk.subarray(start));
      return lines;
    },
  };
}
