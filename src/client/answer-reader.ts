import type { IncomingMessage } from 'node:http';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventEnvelope } from '../events/event.ts';
import type { OperationStream } from '../operations/operation.ts';
import { readProblem } from './problem.ts';
import { readServerSentEvents } from './server-sent-events.ts';

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
