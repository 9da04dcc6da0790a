import { omitUndefined } from '../config/json-object.ts';
import type { AnswerStop, DeltaChannel, ModelFailure, StreamEvent, TokenUsage } from './answer.ts';
import type { Kept, Part, Sealed, ToolCallPart } from './conversation.ts';
import { createJsonPrefix } from './json-prefix.ts';
import { argumentsOf, freeTextArguments, readToolArguments } from './tool-arguments.ts';

/** What is known of a part at some moment. What is known later takes the place of what was known before. */
export interface PartFacts {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** The whole text: of a call its arguments. An empty one says nothing. */
  readonly text?: string | undefined;
  readonly summaries?: readonly string[] | undefined;
  readonly phase?: 'commentary' | 'final_answer' | undefined;
  readonly sealed?: Sealed | undefined;
  readonly mediaType?: string | undefined;
  readonly kept?: Kept | undefined;
}

/** Parts that come in pieces. */
export type StreamedKind = 'text' | 'reasoning' | 'refusal' | 'audio' | 'tool-call' | 'free-text-call';

/** How a call becomes what its tool takes, where the format has another shape for it. */
interface Refitting {
  readonly refit?: (part: ToolCallPart) => ToolCallPart;
  /** Of which tools: their pieces cannot be passed on. */
  readonly isRefitted?: (name: string) => boolean;
}

/**
 * Makes the events of one answer from what a provider sends, in whatever order and however often it says the same. `Key` is what the
 * provider knows a part by.
 */
export class StreamBuilder<Key> {
  readonly #newId: (prefix: string) => string;
  readonly #refitting: Refitting;
  #events: StreamEvent[] = [];
  /** Events that came before the answer said who it is. */
  #early: StreamEvent[] = [];
  #isStarted = false;
  #isOver = false;
  #nextIndex = 0;
  #hasCalls = false;
  readonly #openParts = new Map<Key, OpenPart>();
  readonly #indexes = new Map<Key, number>();

  /** `newId` names answers and calls that have no name. */
  constructor(newId: (prefix: string) => string, refitting: Refitting = {}) {
    this.#newId = newId;
    this.#refitting = refitting;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  start({
    id,
    model,
    usage,
    kept,
  }: {
    id: string;
    model: string;
    usage?: TokenUsage | undefined;
    kept?: Kept | undefined;
  }): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const start = omitUndefined({ id: id || this.#newId('answer'), model, usage, kept });
    this.#events.push({ type: 'answer-start', ...start }, ...this.#early);
    this.#early = [];
  }

  /** Begins a part, unless it has begun. */
  open(key: Key, kind: StreamedKind, facts: PartFacts = {}): void {
    if (this.#isOver || this.has(key)) return;
    this.#begin();
    const part = new OpenPart(kind, facts);
    this.#openParts.set(key, part);
    if (part.isCall) this.#hasCalls = true;
    else this.#announce(key, part);
    this.settle(key, {});
  }

  add(key: Key, text: string, channel: DeltaChannel = 'text'): void {
    const part = this.#openParts.get(key);
    if (this.#isOver || part === undefined || text === '') return;
    if (channel === 'text') {
      this.#addText(key, part, text);
      return;
    }
    let told = channel;
    if (typeof channel === 'object') {
      // A position beyond the next one would make room for all in between.
      const summary = Math.max(0, Math.min(Math.trunc(channel.summary) || 0, part.summaries.length));
      part.summaries[summary] = (part.summaries[summary] ?? '') + text;
      told = { summary };
    } else part.data += text;
    this.#events.push({ type: 'part-delta', index: this.#announce(key, part), text, channel: told });
  }

  /** States facts about an open part; a whole text counts more than the pieces. */
  settle(key: Key, facts: PartFacts): void {
    const part = this.#openParts.get(key);
    if (part === undefined) return;
    const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
    part.facts = { ...part.facts, ...Object.fromEntries(known) };
    if (part.index !== undefined || !part.facts.id || !part.facts.name) return;
    const waiting = part.sent;
    part.sent = '';
    this.#send(part, this.#announce(key, part), waiting);
  }

  /** Nothing more comes of a part. A call without sound arguments stays open until the answer ends: they may still come. */
  close(key: Key): void {
    const part = this.#openParts.get(key);
    if (part === undefined) return;
    part.isClosed = true;
    if (part.isSettled) this.#end(key, part, 'end');
  }

  /** A part that came in one piece. */
  whole(key: Key, part: Part): void {
    if (this.#isOver || this.has(key)) return;
    this.#begin();
    this.#hasCalls ||= part.type === 'tool-call';
    const index = this.#nextIndex++;
    this.#indexes.set(key, index);
    this.#events.push(...eventsOfPart(index, part));
  }

  /** Whether a part of this key was ever begun. */
  has(key: Key): boolean {
    return this.#openParts.has(key) || this.#indexes.has(key);
  }

  native(format: string, value: unknown, key?: Key): void {
    if (this.#isOver) return;
    const index = key === undefined ? undefined : this.#indexes.get(key);
    const event: StreamEvent = { type: 'native-event', format, value, ...(index !== undefined && { index }) };
    (this.#isStarted ? this.#events : this.#early).push(event);
  }

  finish(stop: AnswerStop, { usage, kept }: { usage?: TokenUsage | undefined; kept?: Kept | undefined } = {}): void {
    if (this.#isOver) return;
    this.#endAll(stop.kind);
    this.#events.push({ type: 'answer-end', stop: agreeWithCalls(stop, this.#hasCalls), ...omitUndefined({ usage, kept }) });
  }

  fail(failure: ModelFailure, usage?: TokenUsage): void {
    if (this.#isOver) return;
    this.#endAll('interrupted');
    this.#events.push({ type: 'answer-failed', failure, ...(usage && { usage }) });
  }

  /** The events since the last time. */
  take(): StreamEvent[] {
    const taken = this.#events;
    this.#events = [];
    return taken;
  }

  #begin(): void {
    if (!this.#isStarted) this.start({ id: this.#newId('answer'), model: '' });
  }

  #addText(key: Key, part: OpenPart, text: string): void {
    part.text += text;
    if (part.isCall && part.facts.name && !part.facts.id) this.settle(key, { id: this.#newId('call') });
    if (part.isCall && this.#refitting.isRefitted?.(part.facts.name ?? '')) return;
    const sure = part.prefix === undefined ? text : part.prefix.push(text);
    if (part.index !== undefined) this.#send(part, part.index, sure);
    else part.sent += sure;
  }

  /** Announces a part once it can be named. */
  #announce(key: Key, part: OpenPart): number {
    if (part.index !== undefined) return part.index;
    part.index = this.#nextIndex++;
    this.#indexes.set(key, part.index);
    this.#events.push({ type: 'part-start', index: part.index, part: this.#describe(part, '', false) });
    return part.index;
  }

  #send(part: OpenPart, index: number, text: string): void {
    if (text === '') return;
    part.sent += text;
    this.#events.push({ type: 'part-delta', index, text, channel: 'text' });
  }

  #describe(part: OpenPart, text: string, isCut: boolean): Part {
    const described = part.describe(text, isCut);
    return described.type === 'tool-call' ? (this.#refitting.refit?.(described) ?? described) : described;
  }

  #end(key: Key, part: OpenPart, stop: AnswerStop['kind']): void {
    this.#openParts.delete(key);
    if (part.isCall && !part.facts.id) part.facts = { ...part.facts, id: this.#newId('call') };
    // Nothing was passed on of a part that was not announced.
    if (part.index === undefined) part.sent = '';
    const index = this.#announce(key, part);
    const whole = this.#describe(part, part.wholeText, part.isCutBy(stop));
    const text = textOf(whole);
    const isContinued = text.startsWith(part.sent);
    if (isContinued) this.#send(part, index, text.slice(part.sent.length));
    const warning = isContinued ? {} : { warning: 'What came in pieces is not what came in the end; the end counts.' };
    this.#events.push({ type: 'part-end', index, part: whole, ...warning });
  }

  #endAll(stop: AnswerStop['kind']): void {
    this.#begin();
    for (const [key, part] of this.#openParts) this.#end(key, part, stop);
    this.#isOver = true;
  }
}

/** A part of which more may come. */
class OpenPart {
  readonly #kind: StreamedKind;
  readonly prefix: ReturnType<typeof createJsonPrefix> | undefined;
  /** Undefined as long as the name of a call is not known. */
  index: number | undefined;
  facts: PartFacts;
  /** What came in pieces, and how much of it was passed on. */
  text = '';
  sent = '';
  data = '';
  readonly summaries: string[] = [];
  isClosed = false;

  constructor(kind: StreamedKind, facts: PartFacts) {
    this.#kind = kind;
    this.facts = facts;
    this.prefix = kind === 'tool-call' ? createJsonPrefix() : undefined;
  }

  get isCall(): boolean {
    return this.#kind === 'tool-call' || this.#kind === 'free-text-call';
  }

  get wholeText(): string {
    return this.facts.text ?? this.text;
  }

  /** A call that stays open may still get its arguments, or turn out to be cut off. */
  get isSettled(): boolean {
    if (this.#kind !== 'tool-call') return true;
    return this.wholeText.trim() !== '' && readToolArguments(this.wholeText, { isCut: true }).state === 'valid';
  }

  /** A call that was closed without arguments before the stream was lost has none; one at the limit of tokens may have had some. */
  isCutBy(stop: AnswerStop['kind']): boolean {
    if (stop === 'max-tokens' || stop === 'context-full') return true;
    return stop === 'interrupted' && !(this.isClosed && this.wholeText === '');
  }

  describe(text: string, isCut: boolean): Part {
    const { kept, sealed, phase, summaries = this.summaries, mediaType = 'audio/wav', id = '', name = '' } = this.facts;
    switch (this.#kind) {
      case 'text':
        return { type: 'text', text, ...omitUndefined({ phase, kept, sealed }) };
      case 'refusal':
        return { type: 'refusal', text, ...omitUndefined({ kept }) };
      case 'reasoning':
        return {
          type: 'reasoning',
          text,
          ...(summaries.length > 0 && { summaries: [...summaries] }),
          ...omitUndefined({ kept, sealed }),
        };
      case 'audio': {
        const source = { kind: 'data' as const, mediaType, data: this.data };
        return { type: 'audio', source, ...(text !== '' && { transcript: text }), ...omitUndefined({ kept }) };
      }
      default: {
        const isFreeText = this.#kind === 'free-text-call';
        const read = isFreeText ? freeTextArguments(text) : readToolArguments(text, { isCut });
        const given =
          name === '' ? { state: 'broken' as const, text, problem: 'The call names no tool. Nothing was run.' } : read;
        return {
          type: 'tool-call',
          id,
          name,
          arguments: given,
          ...(isFreeText && { isFreeText }),
          ...omitUndefined({ kept, sealed }),
        };
      }
    }
  }
}

/** The events of a part that is whole. */
export function eventsOfPart(index: number, part: Part): StreamEvent[] {
  const delta = (text: string, channel: DeltaChannel): StreamEvent[] =>
    text === '' ? [] : [{ type: 'part-delta', index, text, channel }];
  const summaries = part.type === 'reasoning' ? (part.summaries ?? []) : [];
  const data = part.type === 'audio' && part.source.kind === 'data' ? part.source.data : '';
  return [
    { type: 'part-start', index, part: emptied(part) },
    ...summaries.flatMap((summary, position) => delta(summary, { summary: position })),
    ...delta(textOf(part), 'text'),
    ...delta(data, 'data'),
    { type: 'part-end', index, part },
  ];
}

/** Providers end an answer with calls as if it were over, and say that it has calls when it has none. */
export function agreeWithCalls(stop: AnswerStop, hasCalls: boolean): AnswerStop {
  if (hasCalls && stop.kind === 'end') return { kind: 'tool-calls' };
  if (!hasCalls && stop.kind === 'tool-calls') return { kind: 'end' };
  return stop;
}

/** The text of a part that comes in pieces. */
function textOf(part: Part): string {
  if (part.type === 'tool-call') return part.arguments.text;
  if (part.type === 'audio') return part.transcript ?? '';
  return part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal' ? part.text : '';
}

function emptied(part: Part): Part {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { ...part, text: '' };
    case 'reasoning': {
      const { summaries, ...rest } = part;
      return { ...rest, text: '' };
    }
    case 'audio': {
      const { transcript, source, ...rest } = part;
      return { ...rest, source: source.kind === 'data' ? { ...source, data: '' } : source };
    }
    case 'tool-call':
      return { ...part, arguments: argumentsOf({}) };
    default:
      return part;
  }
}
