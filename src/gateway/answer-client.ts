import type { ModelFailure, StreamEvent } from '../conversation/answer.ts';
import { createAnswerCollector } from '../conversation/collect-answer.ts';
import type { ConversationRequest } from '../conversation/request.ts';
import type { UpstreamAnswer } from '../models/upstream.ts';
import { writeLimitHeaders } from '../models/wire/failures.ts';
import type { AnswerContext, WireFormat } from '../models/wire/wire-format.ts';
import type { GatewayReply } from './gateway-types.ts';

export const jsonType = 'application/json; charset=utf-8';

/** How a failure is told in a format. */
export function replyFailure(format: WireFormat, failure: ModelFailure): GatewayReply {
  const { status, headers, body } = format.writeFailure(failure);
  return { status, headers: { 'content-type': jsonType, ...headers }, body: JSON.stringify(body) };
}

/** Writes an answer as it comes, or when it is whole. A failure before its first event is told by its status. */
export async function replyAnswer(
  format: WireFormat,
  request: ConversationRequest,
  answer: Pick<UpstreamAnswer, 'rateLimits' | 'warnings' | 'target'> & { readonly events: AsyncIterable<StreamEvent> },
  context: AnswerContext = {},
): Promise<GatewayReply> {
  const events = answer.events[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.done === true) throw new Error('An answer had no event.');
  if (first.value.type === 'answer-failed') return replyFailure(format, first.value.failure);
  const known = { request, ...context };
  if (request.isStreamed) {
    const headers = { 'content-type': streamTypeOf(format), 'cache-control': 'no-cache', ...aboutAnswer(format, answer) };
    return { status: 200, headers, body: writeEvents(format, first.value, events, known) };
  }
  const collector = createAnswerCollector();
  collector.push(first.value);
  for (let next = await events.next(); next.done !== true; next = await events.next()) collector.push(next.value);
  const whole = collector.answer();
  if (whole.failure !== undefined) return replyFailure(format, whole.failure);
  const { value, warnings } = format.writeAnswer(whole, known);
  const headers = { 'content-type': jsonType, ...aboutAnswer(format, answer, warnings) };
  return { status: 200, headers, body: JSON.stringify(value) };
}

async function* writeEvents(
  format: WireFormat,
  first: StreamEvent,
  rest: AsyncIterator<StreamEvent>,
  context: AnswerContext,
): AsyncGenerator<string> {
  const writer = format.createStreamWriter(context);
  try {
    yield writer.write(first);
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      const text = writer.write(next.value);
      if (text !== '') yield text;
    }
  } finally {
    // Whoever stops reading lets go of the provider too.
    await rest.return?.();
  }
}

function streamTypeOf({ streamType }: WireFormat): string {
  return streamType;
}

const maxToldChars = 2000;

/** Who answered, what is left of limits, and what could not be said in the provider's format. */
function aboutAnswer(
  { name }: WireFormat,
  answer: Pick<UpstreamAnswer, 'rateLimits' | 'warnings' | 'target'>,
  more: readonly string[] = [],
): Record<string, string> {
  const target = answer.target();
  const told = [...answer.warnings(), ...more]
    .join(' ')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .slice(0, maxToldChars);
  const limits = { kind: 'rate-limited' as const, status: 200, message: '', rateLimits: answer.rateLimits() };
  return {
    ...writeLimitHeaders(limits, name === 'anthropic' ? 'anthropic' : 'openai'),
    ...(target !== undefined && { 'x-hotcell-upstream': `${target.provider}/${target.model}`.replaceAll(/[^\x20-\x7e]/g, '?') }),
    ...(told !== '' && { 'x-hotcell-left-out': told }),
  };
}
