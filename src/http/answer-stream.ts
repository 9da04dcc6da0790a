import { finished } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../callers/caller.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventEnvelope } from '../events/event.ts';
import type { OperationStream } from '../operations/operation.ts';
import { formatEvent, openEventStream } from './event-stream.ts';
import { formatProblem } from './problem-reply.ts';
import { freeAnswerBytes, type UnreadAnswers } from './unread-answers.ts';

const heartbeatMs = 15_000;
/** While a reader lets more than this wait it is told no events; it gets its answer. */
const maxPendingBytes = 1024 * 1024;

/** What a stream asks of its door. */
export interface AnswerStreamParts {
  /** Asked before every event: who was shut out in the meantime hears nothing more. */
  readonly mayHear: () => boolean;
  readonly role: Caller['role'];
  /** Counts what its reader did not take yet. */
  readonly hold: (bytes: number, cut: () => void) => ReturnType<UnreadAnswers['hold']>;
}

/**
 * The answer of an operation as server-sent events: `accepted`, what happens, then `answer` or `problem`. The head goes out
 * with the first of them, so that what is refused before it begins is refused with its status.
 */
export class AnswerStream implements OperationStream {
  readonly #reply: FastifyReply;
  readonly #parts: AnswerStreamParts;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(reply: FastifyReply, parts: AnswerStreamParts) {
    this.#reply = reply;
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#heartbeat !== undefined;
  }

  accepted(executionId: string): void {
    const { raw } = this.#reply.hijack();
    openEventStream(raw);
    this.#heartbeat = setInterval(() => raw.write(':\n\n'), heartbeatMs).unref();
    raw.write(`event: accepted\ndata: ${JSON.stringify({ executionId })}\n\n`);
  }

  event(event: EventEnvelope): void {
    const { raw } = this.#reply;
    if (raw.writableLength <= maxPendingBytes && this.#parts.mayHear()) raw.write(formatEvent(event));
  }

  /** The answer, or the problem `rate-limited` where its caller lets too much wait to be read. */
  answer(output: unknown): void {
    const text = `event: answer\ndata: ${JSON.stringify(output)}\n\n`;
    try {
      if (text.length > freeAnswerBytes) this.#hold(Buffer.byteLength(text));
      this.#end(text);
    } catch (error) {
      if (!(error instanceof HotcellError)) throw error;
      this.problem(error);
    }
  }

  problem(error: Parameters<typeof formatProblem>[0]): void {
    this.#end(`event: problem\ndata: ${formatProblem(error, this.#parts.role)}\n\n`);
  }

  #hold(bytes: number): void {
    const { raw } = this.#reply;
    finished(
      raw,
      this.#parts.hold(bytes, () => raw.destroy()),
    );
  }

  #end(last: string): void {
    clearInterval(this.#heartbeat);
    this.#reply.raw.end(last);
  }
}
