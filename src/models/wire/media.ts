import type { MediaSource } from '../../conversation/conversation.ts';

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
