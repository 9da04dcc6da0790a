import { isObject } from '../config/json-object.ts';
import type { AudioPart, FilePart, ImagePart, MediaSource } from '../conversation/conversation.ts';

/** What of a result is shown beside its text. */
export type ShownMedia = ImagePart | AudioPart | FilePart;

/** What a tool answered, as a model takes it in. */
export interface ReadOutput {
  readonly text: string;
  readonly media: readonly ShownMedia[];
}

/** What providers take as an image, a sound and a document; of anything else the model reads that it is there. */
const imageTypes = /^image\/(?:png|jpe?g|gif|webp)$/;
const audioTypes = /^audio\/(?:x-)?(?:wav|mpeg|mp3)$/;
const documentTypes = /^application\/pdf$/;
const textTypes = /^(?:text\/.*|application\/(?:json|xml|yaml|javascript))$/;

/**
 * Reads the output of a tool: a text; a part, a list of parts or `{content: parts}`, in Hotcell's own form or in that of MCP, whose images, sounds
 * and documents stand beside the text; everything else is JSON.
 */
export function readOutput(output: unknown): ReadOutput {
  if (output === undefined || output === null) return { text: 'null', media: [] };
  if (typeof output === 'string') return { text: output === '' ? emptyText : output, media: [] };
  const list = isObject(output) && Array.isArray(output.content) ? output.content : Array.isArray(output) ? output : [output];
  const read = list.map(readPart);
  const isParts = list.length > 0 && read.every((part) => part !== undefined);
  if (!isParts) return { text: JSON.stringify(output), media: [] };
  const texts = read.flatMap((part) => (part === undefined || part.text === '' ? [] : [part.text]));
  const media = read.flatMap((part) => part?.media ?? []);
  return { text: texts.length === 0 ? emptyText : texts.join('\n'), media };
}

const emptyText = 'The tool answered with an empty text.';

/** One part; undefined when it is none. */
function readPart(part: unknown): ReadOutput | undefined {
  if (!isObject(part)) return undefined;
  const { type, data, text, mediaType, mimeType = mediaType, uri, name, description, resource } = part;
  const isData = typeof data === 'string' && typeof mimeType === 'string';
  const title = typeof name === 'string' ? name : undefined;
  if (type === 'text' && typeof text === 'string') return { text, media: [] };
  if ((type === 'image' || type === 'audio' || type === 'file') && isData) return readData(data, mimeType, title);
  if (type === 'resource_link' && typeof uri === 'string') {
    return { text: [title, uri, description].filter((word) => typeof word === 'string').join(' — '), media: [] };
  }
  if (type !== 'resource' || !isObject(resource) || typeof resource.uri !== 'string') return undefined;
  const { uri: from, text: words, blob, mimeType: kind = 'application/octet-stream' } = resource;
  if (typeof words === 'string') return { text: `${from}:\n${words}`, media: [] };
  return typeof blob === 'string' && typeof kind === 'string' ? readData(blob, kind, nameOfUri(from)) : undefined;
}

/** Every part is named in the text, too: some formats, and some models, do not take it. */
function readData(data: string, mimeType: string, name: string | undefined): ReadOutput {
  const [mediaType = mimeType] = mimeType.toLowerCase().split(';', 1);
  const label = [mediaType, name, `${Buffer.byteLength(data, 'base64')} bytes`].filter((word) => word !== undefined).join(', ');
  if (textTypes.test(mediaType)) return { text: `[${label}]\n${Buffer.from(data, 'base64').toString('utf8')}`, media: [] };
  const source: MediaSource = { kind: 'data', mediaType, data };
  const part = toMedia(source, mediaType, name);
  return part === undefined
    ? { text: `[${label}: of a kind that models are not shown]`, media: [] }
    : { text: `[${label}]`, media: [part] };
}

function toMedia(source: MediaSource, mediaType: string, name: string | undefined): ShownMedia | undefined {
  if (imageTypes.test(mediaType)) return { type: 'image', source };
  if (audioTypes.test(mediaType)) return { type: 'audio', source };
  if (!documentTypes.test(mediaType)) return undefined;
  return { type: 'file', source, name: name ?? 'document.pdf' };
}

function nameOfUri(uri: string): string | undefined {
  return uri.split(/[/?#]/).findLast((piece) => piece !== '');
}
