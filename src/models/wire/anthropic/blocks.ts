import { isObject, omitUndefined } from '../../../config/json-object.ts';
import {
  type JsonObject,
  keep,
  keptOf,
  type MediaSource,
  type Part,
  type ToolCallPart,
} from '../../../conversation/conversation.ts';
import { argumentsOf, argumentsValue, readToolArguments } from '../../../conversation/tool-arguments.ts';
import { compact, objectIn, objectsIn, onlyText, textIn } from '../json-fields.ts';
import {
  type Direction,
  idOfSource,
  type ReadName,
  readCallPart,
  readTextPart,
  sealAs,
  sealFor,
  shownReasoning,
  unseal,
  writeEach,
} from '../parts.ts';
import type { Losses } from '../writing.ts';

const format = 'anthropic';

/** Reads content: a text, or blocks. */
export function readBlocks(content: unknown, readName?: ReadName, isCut = false): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return objectsIn(content).map((block) => readBlock(block, readName, isCut));
}

/** Reads one block. */
export function readBlock(block: JsonObject, readName?: ReadName, isCut = false): Part {
  const { type, ...fields } = block;
  switch (type) {
    case 'text': {
      const { text, ...rest } = fields;
      return readTextPart(format, type, text, rest);
    }
    case 'thinking': {
      const { thinking, signature, ...rest } = fields;
      const sealed = omitUndefined({ sealed: unseal(format, signature) });
      return { type: 'reasoning', text: textIn(thinking) ?? '', ...sealed, ...keep(format, rest) };
    }
    case 'redacted_thinking': {
      const { data, ...rest } = fields;
      return { type: 'reasoning', text: '', ...omitUndefined({ sealed: unseal(format, data, true) }), ...keep(format, rest) };
    }
    case 'tool_use': {
      const { id, name, input, ...rest } = fields;
      // Some servers send the text of the arguments instead of what it says.
      const text = typeof input === 'string' ? input : JSON.stringify(input ?? null);
      const given = isObject(input) ? argumentsOf(input) : readToolArguments(text, { isCut });
      return readCallPart(format, { id, name, given, rest }, readName);
    }
    case 'tool_result': {
      const { tool_use_id, content, is_error, ...rest } = fields;
      const callId = textIn(tool_use_id) ?? '';
      return { type: 'tool-result', callId, content: readBlocks(content), isError: is_error === true, ...keep(format, rest) };
    }
    case 'image':
    case 'document': {
      const { source, title, ...rest } = fields;
      const found = readSource(objectIn(source));
      if (found === undefined) return { type: 'native', format, value: block };
      if (type === 'image') return { type, source: found, ...keep(format, title === undefined ? rest : { title, ...rest }) };
      return { type: 'file', source: found, ...omitUndefined({ name: textIn(title) }), ...keep(format, rest) };
    }
    default:
      return { type: 'native', format, value: block };
  }
}

function readSource({ type, media_type, data, url, file_id }: JsonObject): MediaSource | undefined {
  const mediaType = textIn(media_type);
  if (type === 'base64' && typeof data === 'string') return { kind: 'data', mediaType: mediaType ?? 'image/png', data };
  if (type === 'text' && typeof data === 'string') {
    return { kind: 'data', mediaType: 'text/plain', data: Buffer.from(data).toString('base64') };
  }
  if (type === 'url' && typeof url === 'string') return { kind: 'url', url };
  return type === 'file' && typeof file_id === 'string' ? { kind: 'id', id: file_id, format } : undefined;
}

/** Writes parts as blocks; what has no block is told as a loss. */
export function writeBlocks(parts: readonly Part[], direction: Direction, losses: Losses): JsonObject[] {
  return writeEach(parts, (part) => writeBlock(part, direction, losses));
}

/** Writes one part; undefined when it has no block. */
export function writeBlock(part: Part, direction: Direction, losses: Losses): JsonObject | undefined {
  if (part.type === 'native') return losses.takeNative('A part', part);
  losses.noteKept(part, `part ${part.type}`);
  const rest = keptOf(part, format);
  switch (part.type) {
    case 'text':
      if (part.phase !== undefined) losses.note(`The phase "${part.phase}" of a text`);
      if (part.sealed !== undefined) losses.note('The signature of a text');
      return part.text === '' ? undefined : { type: 'text', text: part.text, ...rest };
    case 'refusal':
      return part.text === '' ? undefined : { type: 'text', text: part.text, ...rest };
    case 'reasoning': {
      const block = writeReasoning(part, direction);
      return block === undefined ? losses.note('Reasoning that another provider made') : { ...block, ...rest };
    }
    case 'tool-call':
      return { ...writeCall(part, losses), ...rest };
    case 'tool-result': {
      const content = writeBlocks(part.content, direction, losses);
      const result = { content: onlyText(content) ?? content, is_error: part.isError || undefined };
      return compact({ type: 'tool_result', tool_use_id: part.callId, ...result, ...rest });
    }
    case 'image':
    case 'file':
      return writeMedia(part, losses);
    case 'audio':
      losses.note('Audio');
      return part.transcript === undefined ? undefined : { type: 'text', text: part.transcript };
    case 'ran-call':
      return losses.note('A call that was run on the way');
  }
}

function writeReasoning(part: Extract<Part, { type: 'reasoning' }>, direction: Direction): JsonObject | undefined {
  const seal = direction === 'to-client' ? sealAs(format, part.sealed) : sealFor(format, part.sealed);
  const thinking = shownReasoning(part);
  if (seal === undefined && (direction === 'to-provider' || thinking === '')) return undefined;
  const isRedacted = part.sealed?.isRedacted === true || (thinking === '' && part.sealed?.format !== format);
  return isRedacted ? { type: 'redacted_thinking', data: seal } : { type: 'thinking', thinking, signature: seal ?? '' };
}

function writeCall(part: ToolCallPart, losses: Losses): JsonObject {
  if (part.sealed !== undefined) losses.note('The signature of a call');
  if (part.arguments.state === 'broken') losses.tell('Arguments that are no JSON were written as {"invalid_arguments": …}.');
  return { type: 'tool_use', id: part.id, name: part.name, input: argumentsValue(part.arguments) };
}

function writeMedia(part: Extract<Part, { type: 'image' | 'file' }>, losses: Losses): JsonObject | undefined {
  const source = writeSource(part.source);
  if (source === undefined) return losses.note(`A part ${part.type} by an id of another provider`);
  if (part.type === 'image') return { type: 'image', source, ...keptOf(part, format) };
  return compact({ type: 'document', source, title: part.name, ...keptOf(part, format) });
}

function writeSource(source: MediaSource): JsonObject | undefined {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  if (source.kind === 'id') {
    const file_id = idOfSource(source, format);
    return file_id === undefined ? undefined : { type: 'file', file_id };
  }
  const { mediaType, data } = source;
  if (mediaType === 'text/plain') return { type: 'text', media_type: mediaType, data: Buffer.from(data, 'base64').toString() };
  return { type: 'base64', media_type: mediaType, data };
}
