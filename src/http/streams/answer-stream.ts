import { finished } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../callers/caller.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { EventEnvelope } from '../../events/event.ts';
import type { OperationStream } from '../../operations/operation.ts';
import { formatProblem } from '../problem-reply.ts';
import { openServerSentEvents, type ServerSentEvents } from './server-sent-events.ts';
import { freeAnswerBytes, type UnreadAnswers } from './unread-answers.ts';

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
  #stream: ServerSentEvents | undefined;

  constructor(reply: FastifyReply, parts: AnswerStreamParts) {
    this.#reply = reply;
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  accepted(executionId: string): void {
    this.#stream = openServerSentEvents(this.#reply.hijack().raw);
    this.#stream.tell('accepted', JSON.stringify({ executionId }));
  }

  event(event: EventEnvelope): void {
    const stream = this.#stream;
    if (stream !== undefined && stream.pendingBytes() <= maxPendingBytes && this.#parts.mayHear()) stream.write(event);
  }

  /** The answer, or the problem `rate-limited` where its caller lets too much wait to be read. */
  answer(output: unknown): void {
    const json = JSON.stringify(output);
    try {
      if (json.length > freeAnswerBytes) this.#hold(Buffer.byteLength(json));
      this.#end('answer', json);
    } catch (error) {
      if (!(error instanceof HotcellError)) throw error;
      this.problem(error);
    }
  }

  problem(error: Parameters<typeof formatProblem>[0]): void {
    this.#end('problem', formatProblem(error, this.#parts.role));
  }

  #hold(bytes: number): void {
    const { raw } = this.#reply;
    finished(
      raw,
      this.#parts.hold(bytes, () => raw.destroy()),
    );
  }

  #end(name: string, json: string): void {
    this.#stream?.tell(name, json);
    this.#stream?.end();
  }
}
