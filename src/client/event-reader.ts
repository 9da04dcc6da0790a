import type { EventEnvelope } from '../events/event.ts';
import type { EventType } from '../events/event-table.ts';
import { readServerSentEvents } from './answer-reader.ts';
import { exchange, readAnswerText } from './http-exchange.ts';
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
  query: EventQuery & {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly isSameProgram: boolean;
  },
): AsyncGenerator<EventEnvelope> {
  const { url, signal, types, after, onOpen } = query;
  const parameters = new URLSearchParams();
  if (types !== undefined && types.length > 0) parameters.set('types', types.join(','));
  if (after !== undefined) parameters.set('after', String(after));
  try {
    const answer = await exchange({ url: `${url}/api/events?${parameters}`, method: 'GET', headers: query.headers, signal });
    if (answer.statusCode !== 200) throw readProblem(JSON.parse(await readAnswerText(answer)), answer.statusCode);
    onOpen?.();
    const isEvent = query.isSameProgram ? isObject : await readEventCheck();
    for await (const { data } of readServerSentEvents(answer)) if (isEvent(data)) yield data;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type EventCheck = (event: unknown) => event is EventEnvelope;

function isObject(event: unknown): event is EventEnvelope {
  return typeof event === 'object' && event !== null;
}

/** Daemons of other versions may tell what this one does not know; the checker of schemas is read when it is needed. */
async function readEventCheck(): Promise<EventCheck> {
  const [{ Check }, { eventEnvelope }] = await Promise.all([
    import('typebox/value'),
    import('../operations/contracts/events.ts'),
  ]);
  return (event) => Check(eventEnvelope, event);
}
