import { isObject } from '../config/json-object.ts';
import type { AnswerStop, ConversationAnswer, ModelFailure, StreamEvent } from '../conversation/answer.ts';
import { keptOf, type Message, type Part, type RanCallPart, type ToolCallPart, textOf } from '../conversation/conversation.ts';
import { eventsOfPart } from '../conversation/stream-builder.ts';
import { argumentsOf } from '../conversation/tool-arguments.ts';
import { errorCatalog } from '../errors/catalog.ts';
import type { LoopEnd, LoopEvent } from '../loop/loop.ts';
import { kindOfStatus } from '../models/wire/failures.ts';

/** How the loop is told to a client. */
export interface LoopTelling {
  /** Names of tools that the client has itself: their calls it runs. */
  readonly isClients: (name: string) => boolean;
  /** What stands between the texts of two rounds, where the format has one text for all. */
  readonly separator: string;
  /** What happened before, in an earlier try of the same request. */
  readonly before: readonly Message[];
}

/** Who ran the calls that the client is shown. */
const server = 'hotcell';

/** Makes one answer of the rounds of a loop: one beginning, one end, indexes that only grow. */
export function createLoopStream({ isClients, separator, before }: LoopTelling): { push(event: LoopEvent): StreamEvent[] } {
  let isStarted = false;
  let nextIndex = 0;
  let round = 0;
  let textRound: number | undefined;
  /** Texts before which a separator stands. */
  const separated = new Set<number>();
  const nameItem = createItemNamer();
  /** Of this round: where its parts are in the whole answer. */
  let indexes = new Map<number, number>();
  /** Calls of this round that the client does not run, by their index in it. */
  let hidden = new Map<number, ToolCallPart>();
  const running = new Map<string, { readonly index: number; readonly part: RanCallPart }>();
  /** A text ends when it is known what follows: said on the way to a call it is commentary. */
  let heldText: Extract<StreamEvent, { type: 'part-end' }> | undefined;

  function release(isCommentary: boolean): StreamEvent[] {
    const held = heldText;
    heldText = undefined;
    if (held === undefined) return [];
    const { part } = held;
    return [isCommentary && part.type === 'text' ? { ...held, part: { ...part, phase: 'commentary' } } : held];
  }

  function readModel(event: StreamEvent): StreamEvent[] {
    switch (event.type) {
      case 'answer-start': {
        if (isStarted) return [];
        isStarted = true;
        const parts = describeMessages(before, { isClients, separator }, true);
        if (parts.some(({ type }) => type === 'text')) textRound = 0;
        return [event, ...parts.flatMap((part) => eventsOfPart(nextIndex++, nameItem(part, 0)))];
      }
      case 'part-start': {
        const { part } = event;
        const isHidden = part.type === 'tool-call' && !isClients(part.name);
        const released = release(isHidden);
        if (isHidden) {
          hidden.set(event.index, part);
          return released;
        }
        const index = nextIndex++;
        indexes.set(event.index, index);
        const isNext = part.type === 'text' && textRound !== undefined && textRound !== round && separator !== '';
        if (part.type === 'text') textRound = round;
        if (isNext) separated.add(index);
        const between: StreamEvent[] = isNext ? [{ type: 'part-delta', index, text: separator, channel: 'text' }] : [];
        return [...released, { ...event, index, part: nameItem(part, round) }, ...between];
      }
      case 'part-delta':
      case 'part-end': {
        const index = indexes.get(event.index);
        if (index === undefined) {
          if (event.type === 'part-end' && event.part.type === 'tool-call') hidden.set(event.index, event.part);
          return [];
        }
        if (event.type === 'part-delta') return [{ ...event, index }];
        const part = nameItem(event.part, round);
        if (part.type !== 'text') return [{ ...event, index, part }];
        heldText = { ...event, index, part: separated.has(index) ? { ...part, text: `${separator}${part.text}` } : part };
        return [];
      }
      case 'native-event': {
        const index = event.index === undefined ? undefined : indexes.get(event.index);
        if (event.index !== undefined && index === undefined) return [];
        return isStarted ? [{ ...event, ...(index !== undefined && { index }) }] : [];
      }
      default:
        return release(false);
    }
  }

  return {
    push(event) {
      switch (event.type) {
        case 'round-start':
          round = event.round;
          indexes = new Map();
          hidden = new Map();
          return [];
        case 'model':
          return readModel(event.event);
        case 'call-start': {
          const call = hidden.get(event.index);
          const index = nextIndex++;
          const part: RanCallPart = {
            type: 'ran-call',
            id: event.callId,
            server,
            name: event.name,
            arguments: call?.arguments ?? argumentsOf({}),
          };
          running.set(event.callId, { index, part });
          return [...release(true), { type: 'part-start', index, part }];
        }
        case 'call-end': {
          const begun = running.get(event.callId);
          running.delete(event.callId);
          if (begun === undefined) return [];
          return [
            { type: 'part-end', index: begun.index, part: withResult(begun.part, event.result, event.status !== 'success') },
          ];
        }
        case 'loop-end': {
          const cut = [...running.values()].map(
            ({ index, part }): StreamEvent => ({
              type: 'part-end',
              index,
              part: withResult(part, 'It was not run to its end.', true),
            }),
          );
          const { usage } = event;
          const failure = failureOfEnd(event);
          const last: StreamEvent =
            failure === undefined
              ? { type: 'answer-end', stop: stopOfEnd(event), usage, ...(event.answer.kept && { kept: event.answer.kept }) }
              : { type: 'answer-failed', failure, usage };
          const { id, model } = event.answer;
          const start: StreamEvent[] = isStarted || failure !== undefined ? [] : [{ type: 'answer-start', id, model }];
          return [...start, ...release(false), ...cut, last];
        }
        default:
          return [];
      }
    },
  };
}

/** The same as one whole answer, of a loop that is over. */
export function answerOfLoop(end: LoopEnd, telling: LoopTelling): ConversationAnswer {
  const { id, model, kept } = end.answer;
  const failure = failureOfEnd(end);
  return {
    id,
    model,
    parts: describeMessages([...telling.before, ...end.messages], telling, false),
    stop: stopOfEnd(end),
    usage: end.usage,
    ...(failure !== undefined && { failure }),
    ...(kept && { kept }),
  };
}

/** Calls of the client stand in the last message alone; what was said before others is commentary. */
function describeMessages(
  messages: readonly Message[],
  { isClients, separator }: Pick<LoopTelling, 'isClients' | 'separator'>,
  isUnfinished: boolean,
): Part[] {
  const results = new Map(
    messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part] as const] : []))),
  );
  const last = isUnfinished ? -1 : messages.findLastIndex(({ role }) => role === 'assistant');
  const nameItem = createItemNamer();
  let hasText = false;
  return messages.flatMap(({ role, parts }, position) => {
    if (role !== 'assistant') return [];
    const isOnTheWay = position !== last || parts.some((part) => part.type === 'tool-call' && !isClients(part.name));
    let lead = hasText ? separator : '';
    return parts.flatMap((given): Part[] => {
      const part = nameItem(given, position);
      if (part.type === 'text') {
        const text = `${lead}${part.text}`;
        hasText = true;
        lead = '';
        return [{ ...part, text, ...(isOnTheWay && { phase: 'commentary' }) }];
      }
      if (part.type !== 'tool-call') return [part];
      if (isClients(part.name)) return position === last ? [part] : [];
      const { id, name } = part;
      const result = results.get(id);
      const text = result === undefined ? 'It was not run.' : textOf(result.content, '\n');
      const ran: RanCallPart = { type: 'ran-call', id, server, name, arguments: part.arguments };
      return [withResult(ran, text, result?.isError ?? true)];
    });
  });
}

const responsesFormat = 'openai-responses';

/** Providers may name the items of each answer alike; in one response each has a name of its own. */
function createItemNamer(): (part: Part, round: number) => Part {
  const rounds = new Map<string, number>();
  return (part, round) => {
    if (part.type === 'native') return part;
    const kept = keptOf(part, responsesFormat);
    const item = isObject(kept.item) ? kept.item : undefined;
    const id = item?.id ?? kept.id;
    if (typeof id !== 'string') return part;
    const first = rounds.get(id) ?? round;
    rounds.set(id, first);
    if (first === round) return part;
    const own = `${id}_${round}`;
    const renamed = item === undefined ? { ...kept, id: own } : { ...kept, item: { ...item, id: own } };
    return { ...part, kept: { ...part.kept, [responsesFormat]: renamed } };
  };
}

function withResult(part: RanCallPart, text: string, isError: boolean): RanCallPart {
  return { ...part, ...(isError ? { error: text } : { output: text }) };
}

/** A loop that reached a bound has an answer that is not complete. */
function stopOfEnd({ reason, answer }: LoopEnd): AnswerStop {
  if (reason === 'client-calls') return { kind: 'tool-calls' };
  if (reason === 'deadline' || reason === 'tokens' || reason === 'money') return { kind: 'max-tokens' };
  return answer.stop.kind === 'tool-calls' ? { kind: 'end' } : answer.stop;
}

function failureOfEnd({ reason, answer, error }: LoopEnd): ModelFailure | undefined {
  if (reason === 'cancelled')
    return { kind: 'server-error', status: 500, message: 'The answer was cancelled.', code: 'cancelled' };
  if (reason === 'failed' && error !== undefined) {
    const { status } = errorCatalog[error.code];
    return { kind: kindOfStatus(status), status, message: `${error.message} ${error.fix}`, code: error.code };
  }
  return reason === 'model-failed' || reason === 'failed' ? (answer.failure ?? unexplained) : undefined;
}

const unexplained: ModelFailure = { kind: 'server-error', status: 502, message: 'The model did not answer.' };
