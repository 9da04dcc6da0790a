import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { maxInputDepth, nestsDeeper } from '../../config/read/json-nesting.ts';
import { createLineReader } from './line-reader.ts';
import { createMessagePace } from './message-pace.ts';
import type { ReceivedBytes } from './received-bytes.ts';

/** A program that speaks MCP over its standard streams. */
export interface StdioProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
}

/** How a program is run. */
export interface StdioOptions {
  readonly maxMessageBytes: number;
  readonly received: ReceivedBytes;
  /** Hears what it writes to its standard error. Must not throw. */
  readonly onErrorLine: (line: string) => void;
  /** Ends what the program started elsewhere, such as its container. Must not reject. */
  readonly onEnd?: () => Promise<void>;
}

const maxErrorLineBytes = 64 * 1024;
/** A program whose input ended may end by itself; then its process group is asked to, then it is killed. */
const graceMs = 500;
/** Lines that are no messages: a program that writes nothing else is no server. */
const maxGarbageLines = 1000;
/** Of its last words so many are told when it ended by itself. */
const maxLastWords = 3;
const repeatMs = 50;
const repeatedShare = 1 / 20;
const maxRepeatedChars = 1000;
const groups = new Set<number>();
process.once('exit', () => {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
});

/**
 * Speaks with a program over its standard streams. It has a process group of its own, which ends with the connection and with
 * the daemon. What is read is bounded, and a program that floods waits.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** The client tells by its presence that silence means a server of the older era. */
  readonly stderr = null;
  readonly #program: StdioProgram;
  readonly #options: StdioOptions;
  /** Answers are handled where the question was asked, so that what a server asks within a call is asked of that call. */
  readonly #contextsById = new Map<unknown, <R>(run: () => R) => R>();
  #child: ChildProcessWithoutNullStreams | undefined;
  #last = { line: '', untilMs: 0 };
  #repeat: NodeJS.Timeout | undefined;
  #garbage = 0;
  #ended: Promise<void> | undefined;
  readonly #lastWords: string[] = [];
  #isClosing = false;
  /** Why it ended by itself, as a sentence; its own words are its own. */
  ending: string | undefined;

  constructor(program: StdioProgram, options: StdioOptions) {
    this.#program = program;
    this.#options = options;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#program;
    const child = spawn(command, [...args], { env: { ...env }, cwd, detached: true, stdio: 'pipe' });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    const { pid } = child;
    if (pid !== undefined) groups.add(pid);
    // What it started ends with it.
    child.once('exit', (code, signal) => {
      if (pid !== undefined) signalGroup(pid, 'SIGKILL');
      // Whoever left the group may hold its streams open for as long as it likes.
      const letGo = setTimeout(() => {
        if (!this.#isClosing) this.#sayEnding(code, signal);
        this.#isClosing = true;
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      }, graceMs);
      child.once('close', () => clearTimeout(letGo));
    });
    child.once('close', (code, signal) => {
      if (pid !== undefined) groups.delete(pid);
      if (!this.#isClosing && pid !== undefined) this.#sayEnding(code, signal);
      this.#contextsById.clear();
      clearTimeout(this.#repeat);
      this.onclose?.();
    });
    child.stdin.on('error', () => undefined);
    void this.#read(child);
    this.#readErrors(child);
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
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
    const child = this.#child;
    this.#isClosing = true;
    if (child === undefined) return;
    const { pid } = child;
    child.stdin.end();
    if (pid !== undefined && !(await this.#endsWithin(graceMs))) {
      signalGroup(pid, 'SIGTERM');
      if (!(await this.#endsWithin(graceMs))) signalGroup(pid, 'SIGKILL');
    }
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    await this.#ended;
    await this.#options.onEnd?.();
  }

  #sayEnding(code: number | null, signal: NodeJS.Signals | null): void {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    const said = this.#lastWords.length === 0 ? 'said nothing' : `said: ${this.#lastWords.join(' / ')}`;
    this.ending = `The program ended ${how}. To its standard error it ${said}`;
    this.onerror?.(new Error(this.ending));
  }

  async #endsWithin(ms: number): Promise<boolean> {
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), ms);
    const isOver = await Promise.race([this.#ended?.then(() => true), late.promise]);
    clearTimeout(timer);
    return isOver ?? true;
  }

  /** Reads on when what was read is dealt with: the pipe holds back a program that writes faster. */
  async #read(child: ChildProcessWithoutNullStreams): Promise<void> {
    const reader = createLineReader(this.#options.maxMessageBytes);
    const pace = createMessagePace();
    try {
      for await (const chunk of child.stdout) {
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

  #readErrors(child: ChildProcessWithoutNullStreams): void {
    let reader = createLineReader(maxErrorLineBytes);
    child.stderr.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => {
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

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody of the group is left.
  }
}
