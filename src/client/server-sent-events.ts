import type { IncomingMessage } from 'node:http';

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
