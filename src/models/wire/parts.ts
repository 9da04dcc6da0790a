import type { DeltaChannel } from '../../conversation/answer.ts';
import {
  type JsonObject,
  keep,
  type MediaSource,
  type Part,
  type ReasoningPart,
  type Sealed,
  type ToolArguments,
  type ToolCallPart,
} from '../../conversation/conversation.ts';
import { textIn } from './json-fields.ts';

// What the formats do alike with the parts of messages.

/** Turns the name of a tool back into that of the request. */
export type ReadName = (name: string) => string;

/** What the parts come to, without those that have no place in the format. */
export function writeEach<Any>(parts: readonly Any[], write: (part: Any) => JsonObject | undefined): JsonObject[] {
  return parts.map(write).filter((written) => written !== undefined);
}

/** A part that is a text; what came with it is kept. */
export function readTextPart(format: string, type: 'text' | 'refusal', text: unknown, rest: JsonObject): Part {
  return { type, text: textIn(text) ?? '', ...keep(format, rest) };
}

/** A call; what came with it is kept. */
export function readCallPart(
  format: string,
  call: { id: unknown; name: unknown; given: ToolArguments; isFreeText?: boolean; sealed?: Sealed | undefined; rest: JsonObject },
  readName: ReadName = (name) => name,
): ToolCallPart {
  return {
    type: 'tool-call',
    id: textIn(call.id) ?? '',
    name: readName(textIn(call.name) ?? ''),
    arguments: call.given,
    ...(call.isFreeText === true && { isFreeText: true }),
    ...(call.sealed && { sealed: call.sealed }),
    ...keep(format, call.rest),
  };
}

/** A source by its URL; a `data:` URL is its data. */
export function sourceOfUrl(url: string, mediaType?: string): MediaSource {
  const [, type = '', data] = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(url) ?? [];
  if (data !== undefined) return { kind: 'data', mediaType: type || (mediaType ?? 'application/octet-stream'), data };
  return { kind: 'url', url, ...(mediaType !== undefined && { mediaType }) };
}

/** A source as a URL; undefined for an id. */
export function urlOfSource(source: MediaSource): string | undefined {
  if (source.kind === 'data') return `data:${source.mediaType};base64,${source.data}`;
  return source.kind === 'url' ? source.url : undefined;
}

/** The id that a source has with this format. */
export function idOfSource(source: MediaSource, format: string): string | undefined {
  return source.kind === 'id' && source.format === format ? source.id : undefined;
}

/** Where a seal goes: to the provider, which takes its own only, or to a client, which brings back any. */
export type Direction = 'to-provider' | 'to-client';

const mark = 'hotcell.';

/**
 * A sealed value as text in a place of `format` that is made for its own seals. One of another format travels through clients in the same
 * place, marked with where it came from; `unseal` finds it again.
 */
export function sealAs(format: string, sealed: Sealed | undefined): string | undefined {
  if (sealed === undefined) return undefined;
  if (sealed.format === format) return sealed.value;
  return `${mark}${sealed.isRedacted === true ? 'redacted.' : ''}${sealed.format}.${sealed.value}`;
}

/** What stood in such a place. */
export function unseal(format: string, value: unknown, isRedacted = false): Sealed | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const [, redacted, from, text] = /^hotcell\.(redacted\.)?([\w-]+)\.(.*)$/s.exec(value) ?? [];
  if (from === undefined || text === undefined) return { format, value, ...(isRedacted && { isRedacted }) };
  return { format: from, value: text, ...(redacted !== undefined && { isRedacted: true }) };
}

/** A sealed value for a provider, which only takes its own. */
export function sealFor(format: string, sealed: Sealed | undefined): string | undefined {
  return sealed?.format === format ? sealed.value : undefined;
}

/** What is shown of reasoning in a format that has one text for it. */
export function shownReasoning({ text, summaries = [] }: ReasoningPart): string {
  return text || summaries.join('\n\n');
}

/** Tells what stands between two summaries of one part when their pieces are written one after the other. */
export function createSummarySeparator(): (index: number, channel: DeltaChannel) => string {
  const lastSummaries = new Map<number, number>();
  return (index, channel) => {
    if (typeof channel !== 'object') return '';
    const last = lastSummaries.get(index);
    lastSummaries.set(index, channel.summary);
    return last === undefined || last === channel.summary ? '' : '\n\n';
  };
}
