import { omitUndefined } from '../../../config/json-object.ts';
import { type JsonObject, keep, keptOf, type Part } from '../../../conversation/conversation.ts';
import { compact, describeWrong, requireObject, textIn } from '../json-fields.ts';
import { readInputAudio, writeInputAudio } from '../openai-shapes.ts';
import { idOfSource, readTextPart, sourceOfUrl, urlOfSource } from '../parts.ts';
import type { Losses } from '../writing.ts';

const format = 'openai-responses';

/** Reads the content of an item: a text, or parts. */
export function readResponsesContent(content: unknown, where: string): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (content === null || content === undefined) return [];
  if (!Array.isArray(content)) throw describeWrong(where, 'a text or a list of parts', content);
  return content.map((entry, position) => readContentPart(requireObject(entry, `${where}[${position}]`)));
}

/** Reads one part of content. */
export function readContentPart(value: JsonObject): Part {
  const { type, ...fields } = value;
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const { text, ...rest } = fields;
      return readTextPart(format, 'text', text, rest);
    }
    case 'refusal': {
      const { refusal, ...rest } = fields;
      return readTextPart(format, type, refusal, rest);
    }
    case 'input_image': {
      const { image_url, file_id, detail, ...rest } = fields;
      const extras = { ...omitUndefined({ detail: textIn(detail) }), ...keep(format, rest) };
      if (typeof image_url === 'string') return { type: 'image', source: sourceOfUrl(image_url), ...extras };
      if (typeof file_id === 'string') return { type: 'image', source: { kind: 'id', id: file_id, format }, ...extras };
      return { type: 'native', format, value };
    }
    case 'input_file': {
      const { file_data, file_url, file_id, filename, ...rest } = fields;
      const extras = { ...omitUndefined({ name: textIn(filename) }), ...keep(format, rest) };
      const url = textIn(file_data) ?? textIn(file_url);
      if (url !== undefined) {
        const isBare = file_data !== undefined && !url.startsWith('data:');
        const source = isBare ? { kind: 'data' as const, mediaType: 'application/pdf', data: url } : sourceOfUrl(url);
        return { type: 'file', source, ...extras };
      }
      if (typeof file_id === 'string') return { type: 'file', source: { kind: 'id', id: file_id, format }, ...extras };
      return { type: 'native', format, value };
    }
    case 'input_audio': {
      const { input_audio, ...rest } = fields;
      const source = readInputAudio(input_audio);
      return source === undefined ? { type: 'native', format, value } : { type: 'audio', source, ...keep(format, rest) };
    }
    default:
      return { type: 'native', format, value };
  }
}

/** Writes a part of what was said; undefined when it has no place. */
export function writeContentPart(part: Part, isOutput: boolean, losses: Losses): JsonObject | undefined {
  if (part.type === 'native') return losses.takeNative('A part', part);
  losses.noteKept(part, `part ${part.type}`);
  const { item, ...rest } = keptOf(part, format);
  switch (part.type) {
    case 'text':
      if (part.sealed !== undefined) losses.note('The signature of a text');
      if (!isOutput) return { type: 'input_text', text: part.text, ...rest };
      return { type: 'output_text', text: part.text, annotations: [], logprobs: [], ...rest };
    case 'refusal':
      return { type: 'refusal', refusal: part.text, ...rest };
    case 'image': {
      const file_id = idOfSource(part.source, format);
      const image_url = urlOfSource(part.source);
      if (file_id === undefined && image_url === undefined) return losses.note('An image by an id of another provider');
      return compact({ type: 'input_image', image_url, file_id, detail: part.detail ?? 'auto', ...rest });
    }
    case 'file': {
      const file_id = idOfSource(part.source, format);
      const url = urlOfSource(part.source);
      const place = part.source.kind === 'data' ? { file_data: url } : { file_url: url, file_id };
      if (file_id === undefined && url === undefined) return losses.note('A file by an id of another provider');
      return compact({ type: 'input_file', ...place, filename: part.name, ...rest });
    }
    case 'audio': {
      if (part.source.kind === 'data' && !isOutput) {
        return { type: 'input_audio', input_audio: writeInputAudio(part.source), ...rest };
      }
      losses.note('Audio');
      return part.transcript === undefined ? undefined : { type: isOutput ? 'output_text' : 'input_text', text: part.transcript };
    }
    default:
      return losses.note(`A part ${part.type} in this message`);
  }
}
