import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { EventSourceMessage, EventSourceParser } from 'eventsource-parser';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventEnvelope } from '../events/event.ts';
import type { OperationStream } from '../operations/operation.ts';
import { readProblem } from './problem.ts';

/** Reads an answer that is a stream: tells `stream` what happens, resolves with the answer, throws the problem of the daemon. */
export async function readAnswerStream(answer: IncomingMessage, stream: OperationStream): Promise<unknown> {
  for await (const { event, data } of readServerSentEvents(answer)) {
    if (event === 'answer') return data;
    if (event === 'problem') throw readProblem(data, answer.statusCode);
    if (event === 'accepted') stream.accepted(readExecutionId(data));
    else if (isEvent(data)) stream.event(data);
  }
  throw new HotcellError('daemon-unreachable', 'The daemon went away before it answered.');
}

function readExecutionId(data: unknown): string {
  return typeof data === 'object' && data !== null && 'executionId' in data ? String(data.executionId) : '';
}

/** What it holds is shown and never decided by: the daemon that sends it is the one that was asked. */
function isEvent(data: unknown): data is EventEnvelope {
  return typeof data === 'object' && data !== null && 'type' in data && 'subject' in data;
}

/** One server-sent event, with its data as JSON. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Reads what the daemon sends as server-sent events, cut anywhere; comments are passed over. */
export async function* readServerSentEvents(answer: Readable): AsyncGenerator<ServerSentEvent> {
  answer.setEncoding('utf8');
  const unread: EventSourceMessage[] = [];
  let parser: EventSourceParser | undefined;
  for await (const chunk of answer) {
    // Only here, so that no other command waits for it, and the loss of the connection is heard meanwhile.
    parser ??= (await import('eventsource-parser')).createParser({ onEvent: (message) => unread.push(message) });
    parser.feed(String(chunk));
    for (const { event = 'message', data } of unread.splice(0)) yield { event, data: JSON.parse(data) };
  }
}
