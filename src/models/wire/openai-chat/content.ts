import { omitUndefined } from '../../../config/json-object.ts';
import { type JsonObject, keep, keptOf, type MediaSource, type Part } from '../../../conversation/conversation.ts';
import { compact, describeWrong, objectIn, onlyText, requireObject, textIn } from '../json-fields.ts';
import { readInputAudio, writeInputAudio } from '../openai-shapes.ts';
import { idOfSource, readTextPart, sourceOfUrl, urlOfSource, writeEach } from '../parts.ts';
import type { Losses } from '../writing.ts';

const format = 'openai-chat';

/** Reads the content of a message: a text, or parts. */
export function readChatContent(content: unknown, where: string): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) throw describeWrong(where, 'a text or a list of parts', content);
  return content.map((entry, position) => readPart(requireObject(entry, `${where}[${position}]`)));
}

function readPart(value: JsonObject): Part {
  const { type, ...fields } = value;
  if (type === 'text' && typeof fields.text === 'string') {
    const { text, ...rest } = fields;
    return readTextPart(format, type, text, rest);
  }
  if (type === 'refusal') {
    const { refusal, ...rest } = fields;
    return readTextPart(format, type, refusal, rest);
  }
  if (type === 'image_url') {
    const { image_url, ...rest } = fields;
    const { url, detail } = typeof image_url === 'string' ? { url: image_url } : objectIn(image_url);
    if (typeof url !== 'string') return { type: 'native', format, value };
    return { type: 'image', source: sourceOfUrl(url), ...omitUndefined({ detail: textIn(detail) }), ...keep(format, rest) };
  }
  if (type === 'input_audio') {
    const { input_audio, ...rest } = fields;
    const source = readInputAudio(input_audio);
    return source === undefined ? { type: 'native', format, value } : { type: 'audio', source, ...keep(format, rest) };
  }
  if (type === 'file') {
    const { file, ...rest } = fields;
    const { file_data, file_id, filename } = objectIn(file);
    const source = readFile(textIn(file_data), textIn(file_id));
    if (source === undefined) return { type: 'native', format, value };
    return { type: 'file', source, ...omitUndefined({ name: textIn(filename) }), ...keep(format, rest) };
  }
  return { type: 'native', format, value };
}

function readFile(data: string | undefined, id: string | undefined): MediaSource | undefined {
  if (data !== undefined) {
    return data.startsWith('data:') ? sourceOfUrl(data) : { kind: 'data', mediaType: 'application/pdf', data };
  }
  return id === undefined ? undefined : { kind: 'id', id, format };
}

/** Writes parts as content: a text where that says all, else a list. */
export function writeChatContent(parts: readonly Part[], losses: Losses): string | JsonObject[] {
  const written = writeEach(parts, (part) => writePart(part, losses));
  return written.length === 0 ? '' : (onlyText(written) ?? written);
}

function writePart(part: Part, losses: Losses): JsonObject | undefined {
  if (part.type === 'native') return losses.takeNative('A part', part);
  losses.noteKept(part, `part ${part.type}`);
  const rest = keptOf(part, format);
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...rest };
    case 'refusal':
      return { type: 'refusal', refusal: part.text, ...rest };
    case 'image': {
      const url = urlOfSource(part.source);
      if (url === undefined) return losses.note('An image by its id');
      return { type: 'image_url', image_url: compact({ url, detail: part.detail }), ...rest };
    }
    case 'audio':
      if (part.source.kind !== 'data') return losses.note('Audio by its URL or id');
      return { type: 'input_audio', input_audio: writeInputAudio(part.source), ...rest };
    case 'file': {
      const file_id = idOfSource(part.source, format);
      const file_data = part.source.kind === 'data' ? urlOfSource(part.source) : undefined;
      if (file_id === undefined && file_data === undefined) return losses.note('A file by its URL');
      return { type: 'file', file: compact({ file_data, file_id, filename: part.name }), ...rest };
    }
    default:
      return losses.note(`A part ${part.type} in this message`);
  }
}
