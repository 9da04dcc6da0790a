import type { ContentBlock } from '@modelcontextprotocol/server';
import { isObject } from '../../config/json-object.ts';

/** What a call came to, as far as its content goes. */
export interface Ended {
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly fix: string } | undefined;
  readonly warnings?: readonly string[] | undefined;
}

/** One sentence that a model can act on. */
export function sayFailure({ status, error }: Ended): string {
  if (error === undefined) return `The call ended as ${status}.`;
  const { code, message, fix } = error;
  // What plugins throw need not end as a sentence.
  const said = /[.!?…]$/.test(message) ? message : `${message}.`;
  return message.includes(fix) ? `${said} (${code})` : `${said} ${fix} (${code})`;
}

/** An output as parts of content: a text, a part, a list of parts or `{ content: parts }`; everything else as JSON. */
export function toContent(output: unknown): ContentBlock[] {
  if (output === undefined || output === null) return [];
  if (typeof output === 'string') return [textBlock(output)];
  const only = toPart(output);
  if (only !== undefined) return [only];
  const list = isObject(output) && Array.isArray(output.content) ? output.content : output;
  const parts = Array.isArray(list) && list.length > 0 ? list.map(toPart) : [];
  if (parts.length > 0 && parts.every((part) => part !== undefined)) return parts;
  return [textBlock(JSON.stringify(output))];
}

/** One part, in Hotcell's own form or in that of MCP; undefined when it is none. */
export function toPart(part: unknown): ContentBlock | undefined {
  if (!isObject(part)) return undefined;
  const { type, data, text: words, mediaType, mimeType = mediaType, uri, name, resource } = part;
  const kept = keepNotes(part);
  if (type === 'text' && typeof words === 'string') return { type, text: words, ...kept };
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string') {
    return { type, data, mimeType, ...kept };
  }
  if (type === 'file' && typeof data === 'string' && typeof mimeType === 'string') {
    const fileName = typeof name === 'string' ? name : 'file';
    return { type: 'resource', resource: { uri: `file:///${encodeURIComponent(fileName)}`, mimeType, blob: data }, ...kept };
  }
  if (type === 'resource' && isObject(resource)) {
    const contents = toContents(resource);
    return contents === undefined ? undefined : { type, resource: contents, ...kept };
  }
  if (type === 'resource_link' && typeof uri === 'string') {
    const { title, description, size } = part;
    return {
      type,
      uri,
      name: typeof name === 'string' ? name : uri,
      ...(typeof title === 'string' ? { title } : {}),
      ...(typeof description === 'string' ? { description } : {}),
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
      ...(typeof size === 'number' ? { size } : {}),
      ...kept,
    };
  }
  return undefined;
}

/** The contents of a resource: text, or base64 as `blob`. */
export type Contents = { readonly uri: string; readonly mimeType?: string } & (
  | { readonly text: string }
  | { readonly blob: string }
);

/** Contents as MCP has them; undefined when it is something else. */
export function toContents({ uri, mimeType, text: words, blob }: Readonly<Record<string, unknown>>): Contents | undefined {
  if (typeof uri !== 'string') return undefined;
  const head = { uri, ...(typeof mimeType === 'string' ? { mimeType } : {}) };
  if (typeof words === 'string') return { ...head, text: words };
  return typeof blob === 'string' ? { ...head, blob } : undefined;
}

function keepNotes({ annotations, _meta }: Readonly<Record<string, unknown>>) {
  return { ...(isObject(annotations) ? { annotations } : {}), ...(isObject(_meta) ? { _meta } : {}) };
}

/** A text as a part. */
export function textBlock(words: string): ContentBlock {
  return { type: 'text', text: words };
}
