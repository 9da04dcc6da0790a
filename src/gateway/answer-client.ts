import type { ModelFailure, StreamEvent } from '../conversation/answer.ts';
import { createAnswerCollector } from '../conversation/collect-answer.ts';
import type { UpstreamAnswer } from '../models/upstream.ts';
import type { AnswerContext, WireFormat } from '../models/wire/wire-format.ts';
import type { GatewayReply } from './gateway-types.ts';

const jsonType = 'application/json; charset=utf-8';

/** An answer on its way to a client. */
export interface TellableAnswer {
  readonly events: AsyncIterable<StreamEvent>;
  /** What is known of who answers, with the first event. */
  readonly about: Pick<UpstreamAnswer, 'rateLimits' | 'warnings' | 'target'> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly isStreamed: boolean;
  readonly context: AnswerContext;
  /** A client that hears nothing for so long is told that the answer is still being made. */
  readonly pingMs: number;
}

/** How a failure is told in a format. */
export function replyFailure(format: WireFormat, failure: ModelFailure): GatewayReply {
  const { status, headers, body } = format.writeFailure(failure);
  return { status, headers: { 'content-type': jsonType, ...headers }, body: JSON.stringify(body) };
}

/** Writes an answer as it comes, or when it is whole. A failure before its first event is told by its status. */
export async function replyAnswer(format: WireFormat, answer: TellableAnswer): Promise<GatewayReply> {
  const { context, isStreamed } = answer;
  const events = answer.events[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done === true) throw new Error('An answer had no event.');
  if (first.value.type === 'answer-failed') {
    await events.return?.();
    return replyFailure(format, first.value.failure);
  }
  if (isStreamed) {
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...describeAnswer(format, answer) };
    return { status: 200, headers, body: writeEvents(format, first.value, events, answer) };
  }
  const collector = createAnswerCollector();
  collector.push(first.value);
  for (let next = await events.next(); next.done !== true; next = await events.next()) collector.push(next.value);
  const whole = collector.answer();
  if (whole.failure !== undefined) return replyFailure(format, whole.failure);
  const { value, warnings } = format.writeAnswer(whole, context);
  const headers = { 'content-type': jsonType, ...describeAnswer(format, answer, warnings) };
  return { status: 200, headers, body: JSON.stringify(value) };
}

async function* writeEvents(
  format: WireFormat,
  first: StreamEvent,
  rest: AsyncIterator<StreamEvent>,
  { context, pingMs }: TellableAnswer,
): AsyncGenerator<string> {
  const writer = format.createStreamWriter(context);
  const pings = createPings(pingMs);
  try {
    yield writer.write(first);
    for (;;) {
      const asked = rest.next();
      let next = await pings.first(asked);
      for (; next === undefined; next = await pings.first(asked)) yield format.ping;
      if (next.done === true) return;
      const text = writer.write(next.value);
      if (text !== '') yield text;
    }
  } finally {
    pings.end();
    // Whoever stops reading lets go of the provider too.
    await rest.return?.();
  }
}

/** One timer for a whole stream: what comes in time never waits for it. */
function createPings(pingMs: number) {
  let wake = Promise.withResolvers<undefined>();
  let hasHeard = false;
  const timer = setInterval(() => {
    if (!hasHeard) wake.resolve(undefined);
    hasHeard = false;
  }, pingMs);
  return {
    /** What is asked for, or undefined when it is time for a sign of life. */
    async first<Value>(asked: Promise<Value>): Promise<Value | undefined> {
      const value = await Promise.race([asked, wake.promise]);
      if (value === undefined) wake = Promise.withResolvers();
      else hasHeard = true;
      return value;
    },
    end: () => clearInterval(timer),
  };
}

const maxToldChars = 2000;

/** Who answered, what is left of limits, and what could not be said in the provider's format. */
function describeAnswer(
  format: WireFormat,
  { about, headers }: TellableAnswer,
  more: readonly string[] = [],
): Record<string, string> {
  const target = about?.target();
  const told = toHeader([...(about?.warnings() ?? []), ...more].join(' ')).slice(0, maxToldChars);
  return {
    ...format.writeLimits({ rateLimits: about?.rateLimits() ?? [] }),
    ...(target !== undefined && { 'x-hotcell-upstream': toHeader(`${target.provider}/${target.model}`) }),
    ...(told !== '' && { 'x-hotcell-left-out': told }),
    ...headers,
  };
}

/** A text as a header can hold it. */
export function toHeader(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}

/** An answer of plain JSON. */
export function replyJson(value: object): GatewayReply {
  return { status: 200, headers: { 'content-type': jsonType }, body: JSON.stringify(value) };
}
