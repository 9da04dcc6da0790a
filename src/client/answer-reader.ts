import type { IncomingMessage } from 'node:http';
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

/** Reads what the daemon sends as server-sent events, each of which has one line of data; comments are passed over. */
export async function* readServerSentEvents(answer: IncomingMessage): AsyncGenerator<ServerSentEvent> {
  answer.setEncoding('utf8');
  let unread = '';
  for await (const chunk of answer) {
    const blocks = (unread + String(chunk)).split('\n\n');
    unread = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const data = readField(lines, 'data');
      if (data !== undefined) yield { event: readField(lines, 'event') ?? 'message', data: JSON.parse(data) };
    }
  }
}

function readField(lines: readonly string[], name: string): string | undefined {
  return lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
}
