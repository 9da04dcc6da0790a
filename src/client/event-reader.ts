import Value from 'typebox/value';
import type { EventEnvelope, EventType } from '../events/event.ts';
import { eventEnvelope } from '../operations/contracts/events.ts';
import { exchange, readText } from './http-exchange.ts';
import { readProblem } from './problem.ts';

/** What to hear of the events. Kept ones after `after` come first. */
export interface EventQuery {
  readonly types?: readonly EventType[];
  readonly after?: number;
  /** Told once, when every later event will come. */
  readonly onOpen?: () => void;
  readonly signal: AbortSignal;
}

/** Reads the event stream of a daemon until `signal` aborts or the daemon ends it. */
export async function* readEvents(
  query: EventQuery & { readonly url: string; readonly headers: Readonly<Record<string, string>> },
): AsyncGenerator<EventEnvelope> {
  const { url, signal, types, after, onOpen } = query;
  const parameters = new URLSearchParams();
  if (types !== undefined && types.length > 0) parameters.set('types', types.join(','));
  if (after !== undefined) parameters.set('after', String(after));
  const answer = await exchange({ url: `${url}/api/events?${parameters}`, method: 'GET', headers: query.headers, signal });
  if (answer.statusCode !== 200) throw readProblem(JSON.parse(await readText(answer)), answer.statusCode);
  answer.setEncoding('utf8');
  onOpen?.();
  let unread = '';
  try {
    for await (const chunk of answer) {
      const blocks = (unread + String(chunk)).split('\n\n');
      unread = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = readBlock(block);
        if (event !== undefined) yield event;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function readBlock(block: string): EventEnvelope | undefined {
  const line = block.split('\n').find((candidate) => candidate.startsWith('data: '));
  if (line === undefined) return undefined;
  const event: unknown = JSON.parse(line.slice('data: '.length));
  return Value.Check(eventEnvelope, event) ? event : undefined;
}
