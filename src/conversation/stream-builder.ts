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

/**
 * Makes the events of one answer from what a provider sends, in whatever order and however often it says the same. `Key` is what the
 * provider knows a part by.
 */
export interface StreamBuilder<Key> {
  start(answer: { id: string; model: string; usage?: TokenUsage | undefined; kept?: Kept | undefined }): void;
  /** Begins a part, unless it has begun. */
  open(key: Key, kind: StreamedKind, facts?: PartFacts): void;
  add(key: Key, text: string, channel?: DeltaChannel): void;
  /** States facts about an open part; a whole text counts more than the pieces. */
  settle(key: Key, facts: PartFacts): void;
  /** Nothing more comes of a part. A call without sound arguments stays open until the answer ends: they may still come. */
  close(key: Key): void;
  /** A part that came in one piece. */
  whole(key: Key, part: Part): void;
  /** Whether a part of this key was ever begun. */
  has(key: Key): boolean;
  native(format: string, value: unknown, key?: Key): void;
  finish(stop: AnswerStop, end?: { usage?: TokenUsage | undefined; kept?: Kept | undefined }): void;
  fail(failure: ModelFailure, usage?: TokenUsage): void;
  readonly isStarted: boolean;
  readonly isOver: boolean;
  /** The events since the last time. */
  take(): StreamEvent[];
}

interface Refitting {
  readonly refit?: (part: ToolCallPart) => ToolCallPart;
  readonly isRefitted?: (name: string) => boolean;
}

interface OpenPart {
  readonly kind: StreamedKind;
  /** Undefined as long as the name of a call is not known. */
  index: number | undefined;
  facts: PartFacts;
  /** What came in pieces, and how much of it was passed on. */
  text: string;
  sent: string;
  data: string;
  summaries: string[];
  isClosed: boolean;
  readonly prefix: ReturnType<typeof createJsonPrefix> | undefined;
}

/**
 * Creates a builder; `newId` names answers and calls that have no name. `refit` makes a call what its tool takes, where the format has another shape
 * for it; `isRefitted` tells of which tools, since their pieces cannot be passed on.
 */
export function createStreamBuilder<Key>(
  newId: (prefix: string) => string,
  { refit = (part) => part, isRefitted = () => false }: Refitting = {},
): StreamBuilder<Key> {
  let events: StreamEvent[] = [];
  /** Events that came before the answer said who it is. */
  let early: StreamEvent[] = [];
  let isStarted = false;
  let isOver = false;
  let nextIndex = 0;
  let calls = 0;
  const openParts = new Map<Key, OpenPart>();
  const indexes = new Map<Key, number>();

  function begin(): void {
    if (!isStarted) builder.start({ id: newId('answer'), model: '' });
  }

  /** Announces a part once it can be named. */
  function announce(key: Key, part: OpenPart): number {
    if (part.index !== undefined) return part.index;
    part.index = nextIndex++;
    indexes.set(key, part.index);
    events.push({ type: 'part-start', index: part.index, part: describe(part, '', false) });
    return part.index;
  }

  function describe(part: OpenPart, text: string, isCut: boolean): Part {
    const { facts } = part;
    const extras = { ...(facts.kept && { kept: facts.kept }), ...(facts.sealed && { sealed: facts.sealed }) };
    const { kept } = facts;
    switch (part.kind) {
      case 'text':
        return { type: 'text', text, ...(facts.phase && { phase: facts.phase }), ...extras };
      case 'refusal':
        return { type: 'refusal', text, ...(kept && { kept }) };
      case 'reasoning': {
        const summaries = facts.summaries ?? part.summaries;
        return { type: 'reasoning', text, ...(summaries.length > 0 && { summaries: [...summaries] }), ...extras };
      }
      case 'audio': {
        const source = { kind: 'data' as const, mediaType: facts.mediaType ?? 'audio/wav', data: part.data };
        return { type: 'audio', source, ...(text !== '' && { transcript: text }), ...(kept && { kept }) };
      }
      default:
        return describeCall(part, text, isCut, extras);
    }
  }

  function describeCall(part: OpenPart, text: string, isCut: boolean, extras: object): ToolCallPart {
    const isFreeText = part.kind === 'free-text-call';
    const id = part.facts.id ?? '';
    const name = part.facts.name ?? '';
    const read = isFreeText ? freeTextArguments(text) : readToolArguments(text, { isCut });
    const given = name === '' ? { state: 'broken' as const, text, problem: 'The call names no tool. Nothing was run.' } : read;
    return refit({ type: 'tool-call', id, name, arguments: given, ...(isFreeText && { isFreeText }), ...extras });
  }

  function send(part: OpenPart, index: number, text: string): void {
    if (text === '') return;
    part.sent += text;
    events.push({ type: 'part-delta', index, text, channel: 'text' });
  }

  /** A call that stays open may still get its arguments, or turn out to be cut off. */
  function isSettled(part: OpenPart): boolean {
    if (part.kind !== 'tool-call') return true;
    const text = part.facts.text ?? part.text;
    return text.trim() !== '' && readToolArguments(text, { isCut: true }).state === 'valid';
  }

  /** A call that was closed without arguments before the stream was lost has none; one at the limit of tokens may have had some. */
  function isCutCall(part: OpenPart, stop: AnswerStop['kind']): boolean {
    if (stop === 'max-tokens' || stop === 'context-full') return true;
    return stop === 'interrupted' && !(part.isClosed && (part.facts.text ?? part.text) === '');
  }

  function end(key: Key, part: OpenPart, stop: AnswerStop['kind']): void {
    openParts.delete(key);
    if (isCall(part) && !part.facts.id) part.facts = { ...part.facts, id: newId('call') };
    // Nothing was passed on of a part that was not announced.
    if (part.index === undefined) part.sent = '';
    const index = announce(key, part);
    const whole = describe(part, part.facts.text ?? part.text, isCutCall(part, stop));
    const text = textOf(whole);
    const isContinued = text.startsWith(part.sent);
    if (isContinued) send(part, index, text.slice(part.sent.length));
    const warning = isContinued ? {} : { warning: 'What came in pieces is not what came in the end; the end counts.' };
    events.push({ type: 'part-end', index, part: whole, ...warning });
  }

  function endAll(stop: AnswerStop['kind']): void {
    begin();
    for (const [key, part] of openParts) end(key, part, stop);
  }

  const builder: StreamBuilder<Key> = {
    start({ id, model, usage, kept }) {
      if (isStarted) return;
      isStarted = true;
      events.push({ type: 'answer-start', id: id || newId('answer'), model, ...(usage && { usage }), ...(kept && { kept }) });
      events.push(...early);
      early = [];
    },
    open(key, kind, facts = {}) {
      if (isOver || openParts.has(key) || indexes.has(key)) return;
      begin();
      const isJson = kind === 'tool-call';
      const prefix = isJson ? createJsonPrefix() : undefined;
      const part: OpenPart = {
        kind,
        index: undefined,
        facts,
        text: '',
        sent: '',
        data: '',
        summaries: [],
        isClosed: false,
        prefix,
      };
      openParts.set(key, part);
      if (isCall(part)) calls += 1;
      else announce(key, part);
      builder.settle(key, {});
    },
    add(key, text, channel = 'text') {
      const part = openParts.get(key);
      if (isOver || part === undefined || text === '') return;
      if (typeof channel === 'object') {
        // A position beyond the next one would make room for all in between.
        const summary = Math.max(0, Math.min(Math.trunc(channel.summary) || 0, part.summaries.length));
        part.summaries[summary] = (part.summaries[summary] ?? '') + text;
        events.push({ type: 'part-delta', index: announce(key, part), text, channel: { summary } });
        return;
      }
      if (channel === 'data') part.data += text;
      else {
        part.text += text;
        if (isCall(part) && part.facts.name && !part.facts.id) builder.settle(key, { id: newId('call') });
        if (isCall(part) && isRefitted(part.facts.name ?? '')) return;
        const sure = part.prefix === undefined ? text : part.prefix.push(text);
        if (part.index !== undefined) send(part, part.index, sure);
        else part.sent += sure;
        return;
      }
      events.push({ type: 'part-delta', index: announce(key, part), text, channel });
    },
    settle(key, facts) {
      const part = openParts.get(key);
      if (part === undefined) return;
      const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
      part.facts = { ...part.facts, ...Object.fromEntries(known) };
      if (part.index !== undefined || !part.facts.id || !part.facts.name) return;
      const waiting = part.sent;
      part.sent = '';
      send(part, announce(key, part), waiting);
    },
    close(key) {
      const part = openParts.get(key);
      if (part === undefined) return;
      part.isClosed = true;
      if (isSettled(part)) end(key, part, 'end');
    },
    whole(key, part) {
      if (isOver || openParts.has(key) || indexes.has(key)) return;
      begin();
      if (part.type === 'tool-call') calls += 1;
      const index = nextIndex++;
      indexes.set(key, index);
      events.push(...eventsOfPart(index, part));
    },
    has: (key) => openParts.has(key) || indexes.has(key),
    native(format, value, key) {
      if (isOver) return;
      const index = key === undefined ? undefined : indexes.get(key);
      (isStarted ? events : early).push({ type: 'native-event', format, value, ...(index !== undefined && { index }) });
    },
    finish(stop, { usage, kept } = {}) {
      if (isOver) return;
      endAll(stop.kind);
      isOver = true;
      const end = { type: 'answer-end' as const, stop: agreeWithCalls(stop, calls > 0), ...(usage && { usage }) };
      events.push({ ...end, ...(kept && { kept }) });
    },
    fail(failure, usage) {
      if (isOver) return;
      endAll('interrupted');
      isOver = true;
      events.push({ type: 'answer-failed', failure, ...(usage && { usage }) });
    },
    get isStarted() {
      return isStarted;
    },
    get isOver() {
      return isOver;
    },
    take() {
      const taken = events;
      events = [];
      return taken;
    },
  };
  return builder;
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

function isCall({ kind }: OpenPart): boolean {
  return kind === 'tool-call' || kind === 'free-text-call';
}
