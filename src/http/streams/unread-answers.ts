import { finished } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type Caller, unknownCaller } from '../../callers/caller.ts';
import { countedAs } from '../../config/counted-callers.ts';
import { quotas } from '../../config/quotas.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';

/** Answers up to this size are bounded by the number of connections. */
export const freeAnswerBytes = 16 * 1024;

/** What was handed to sockets and is still in memory because nobody read it yet. */
export interface UnreadAnswers {
  /**
   * Counts an answer until the returned function is called. Throws `rate-limited` where its caller lets too much wait; where all
   * callers together do, `cut` of the oldest answer of whoever holds most is called, which must end its connection.
   */
  hold(caller: Caller, bytes: number, cut: () => void): () => void;
}

interface UnreadAnswer {
  readonly bytes: number;
  readonly cut: () => void;
}

interface Holder {
  /** In the order in which they came. */
  readonly answers: Set<UnreadAnswer>;
  bytes: number;
}

/** Counts as the table of quotas has it. */
export function createUnreadAnswers(
  bounds: { readonly perCaller: number; readonly inAll: number; readonly reserve: number } = quotas['door.unread'],
): UnreadAnswers {
  const { perCaller, inAll, reserve } = bounds;
  const holders = new Map<string, Holder>();
  let held = 0;

  function release(key: string, answer: UnreadAnswer): void {
    const holder = holders.get(key);
    if (holder === undefined || !holder.answers.delete(answer)) return;
    holder.bytes -= answer.bytes;
    held -= answer.bytes;
    if (holder.answers.size === 0) holders.delete(key);
  }

  function cutOldestOfLargest(): void {
    let largest: [string, Holder] | undefined;
    for (const entry of holders) if (largest === undefined || entry[1].bytes > largest[1].bytes) largest = entry;
    if (largest === undefined) return;
    const [key, { answers }] = largest;
    const [oldest] = answers;
    if (oldest === undefined) return;
    release(key, oldest);
    oldest.cut();
  }

  return {
    hold(caller, wholeBytes, cut) {
      const key = countedAs(caller.id);
      // One answer that is larger than a share takes all of it.
      const answer: UnreadAnswer = { bytes: Math.min(wholeBytes, perCaller), cut };
      if ((holders.get(key)?.bytes ?? 0) + answer.bytes > perCaller) throw refuse(perCaller);
      const bound = caller.role === 'admin' ? inAll : inAll - reserve;
      while (held > 0 && held + answer.bytes > bound) cutOldestOfLargest();
      const holder = holders.get(key) ?? { answers: new Set(), bytes: 0 };
      holders.set(key, holder);
      holder.answers.add(answer);
      holder.bytes += answer.bytes;
      held += answer.bytes;
      return () => release(key, answer);
    },
  };
}

/** Counts every large answer of plain HTTP, from when it is ready until the last of it left or the connection is gone. */
export function registerUnreadAnswers(app: FastifyInstance, unread: UnreadAnswers): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length <= freeAnswerBytes) return done(null, payload);
    try {
      const cut = () => reply.raw.destroy();
      finished(reply.raw, unread.hold(request.caller ?? unknownCaller, Buffer.byteLength(payload), cut));
      done(null, payload);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function refuse(perCaller: number): HotcellError {
  return new HotcellError(
    'rate-limited',
    `The answer was not sent: ${perCaller} bytes of answers to this caller wait to be read.`,
    {
      facts: { retryAfterMs: 1000 },
      fix: 'Read the answers on your other connections, or close them. A call that ran has its record: executions.list.',
    },
  );
}
