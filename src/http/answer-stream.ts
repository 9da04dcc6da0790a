import type { FastifyReply } from 'fastify';
import type { EventEnvelope } from '../events/event.ts';
import type { OperationStream } from '../operations/operation.ts';
import { formatEvent, openEventStream } from './event-stream.ts';
import { formatProblem } from './problem-reply.ts';

const heartbeatMs = 15_000;
/** A reader that lets more than this wait gets no more events, but its answer. */
const maxPendingBytes = 1024 * 1024;

/**
 * The answer of an operation as server-sent events: `accepted`, what happens, then `answer` or `problem`. The head goes out
 * with the first of them, so that what is refused before it begins is refused with its status.
 */
export class AnswerStream implements OperationStream {
  readonly #reply: FastifyReply;
  readonly #mayHear: () => boolean;
  #heartbeat: NodeJS.Timeout | undefined;

  /** `mayHear` is asked before every event: who was shut out in the meantime hears nothing more. */
  constructor(reply: FastifyReply, mayHear: () => boolean) {
    this.#reply = reply;
    this.#mayHear = mayHear;
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
    if (raw.writableLength <= maxPendingBytes && this.#mayHear()) raw.write(formatEvent(event));
  }

  answer(output: unknown): void {
    this.#end(`event: answer\ndata: ${JSON.stringify(output)}\n\n`);
  }

  problem(error: Parameters<typeof formatProblem>[0]): void {
    this.#end(`event: problem\ndata: ${formatProblem(error)}\n\n`);
  }

  #end(last: string): void {
    clearInterval(this.#heartbeat);
    this.#reply.raw.end(last);
  }
}
