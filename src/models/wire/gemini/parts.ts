import { isObject, omitUndefined } from '../../../config/json-object.ts';
import {
  type JsonObject,
  keep,
  keptOf,
  type MediaSource,
  type Part,
  type ToolResultPart,
} from '../../../conversation/conversation.ts';
import { argumentsOf, argumentsValue, readToolArguments } from '../../../conversation/tool-arguments.ts';
import { compact, objectIn, objectsIn, textIn } from '../json-fields.ts';
import { type Direction, type ReadName, readCallPart, sealAs, sealFor, shownReasoning, unseal, writeEach } from '../parts.ts';
import type { Losses } from '../writing.ts';

const format = 'gemini';

/** Reads one part. A call or result without an id has an empty one. */
export function readGeminiPart(value: JsonObject, readName?: ReadName, isCut = false): Part {
  const { text, thought, thoughtSignature, functionCall, functionResponse, inlineData, fileData, ...rest } = value;
  const seal = unseal(format, thoughtSignature);
  if (isObject(functionCall)) {
    const { id, name, args } = functionCall;
    const given = typeof args === 'string' ? readToolArguments(args, { isCut }) : argumentsOf(objectIn(args));
    return readCallPart(format, { id, name, given, sealed: seal, rest }, readName);
  }
  if (isObject(functionResponse)) return { ...readResult(functionResponse), ...keep(format, rest) };
  const media = readMedia(inlineData, fileData);
  if (media !== undefined) return readMediaPart(media, thoughtSignature === undefined ? rest : { thoughtSignature, ...rest });
  if (typeof text !== 'string' && (Object.keys(rest).length > 0 || thoughtSignature === undefined))
    return { type: 'native', format, value };
  const said = textIn(text) ?? '';
  return { type: thought === true ? 'reasoning' : 'text', text: said, ...omitUndefined({ sealed: seal }), ...keep(format, rest) };
}

/** The result itself is an object there; what has one of the usual keys alone is a text or parts. */
function readResult({ id, name, response, parts, ...rest }: JsonObject): ToolResultPart {
  const given = objectIn(response);
  const { output, result, error } = given;
  const only = Object.keys(given).length === 1 ? (output ?? result ?? error) : undefined;
  const text = typeof only === 'string' ? only : JSON.stringify(given);
  const shape = typeof only === 'string' ? Object.keys(given)[0] : 'json';
  const shown = objectsIn(parts).map((part) => readGeminiPart(part));
  return {
    type: 'tool-result',
    callId: textIn(id) ?? '',
    name: textIn(name) ?? '',
    content: [{ type: 'text', text, ...(shape !== 'output' && keep(format, { item: shape })) }, ...shown],
    isError: error !== undefined && Object.keys(given).length === 1,
    ...keep(format, rest),
  };
}

function readMedia(inline: unknown, file: unknown): { source: MediaSource; name?: string } | undefined {
  const { mimeType, data, displayName } = objectIn(inline);
  const name = textIn(displayName) ?? textIn(objectIn(file).displayName);
  if (typeof data === 'string') {
    return {
      source: { kind: 'data', mediaType: textIn(mimeType) ?? 'application/octet-stream', data },
      ...omitUndefined({ name }),
    };
  }
  const { fileUri, mimeType: fileType } = objectIn(file);
  if (typeof fileUri !== 'string') return undefined;
  return { source: { kind: 'url', url: fileUri, ...omitUndefined({ mediaType: textIn(fileType) }) }, ...omitUndefined({ name }) };
}

function readMediaPart({ source, name }: { source: MediaSource; name?: string }, rest: JsonObject): Part {
  const mediaType = source.kind === 'id' ? '' : (source.mediaType ?? '');
  const extras = keep(format, rest);
  if (mediaType.startsWith('image/')) return { type: 'image', source, ...extras };
  if (mediaType.startsWith('audio/')) return { type: 'audio', source, ...extras };
  return { type: 'file', source, ...(name !== undefined && { name }), ...extras };
}

/** Writes parts; what has no place is told as a loss. `nameOf` knows the tool of a call, which results name. */
export function writeGeminiParts(
  parts: readonly Part[],
  direction: Direction,
  losses: Losses,
  nameOf: (callId: string) => string = () => '',
): JsonObject[] {
  return writeEach(parts, (part) => writeGeminiPart(part, direction, losses, nameOf));
}

/** Writes one part. */
export function writeGeminiPart(
  part: Part,
  direction: Direction,
  losses: Losses,
  nameOf: (callId: string) => string = () => '',
): JsonObject | undefined {
  if (part.type === 'native') return losses.takeNative('A part', part);
  losses.noteKept(part, `part ${part.type}`);
  const { item, ...rest } = keptOf(part, format);
  const seal = 'sealed' in part ? (direction === 'to-client' ? sealAs : sealFor)(format, part.sealed) : undefined;
  switch (part.type) {
    case 'text':
      if (part.phase !== undefined) losses.note(`The phase "${part.phase}" of a text`);
      if (part.text === '' && seal === undefined) return undefined;
      return compact({ text: part.text, thoughtSignature: seal, ...rest });
    case 'refusal':
      return part.text === '' ? undefined : { text: part.text, ...rest };
    case 'reasoning': {
      const text = shownReasoning(part);
      if (
        (direction === 'to-provider' && part.sealed?.format !== format && keptOf(part, format).item === undefined) ||
        (text === '' && seal === undefined)
      ) {
        return losses.note('Reasoning that another provider made');
      }
      return compact({ text, thought: true, thoughtSignature: seal, ...rest });
    }
    case 'tool-call': {
      if (part.arguments.state === 'broken') losses.tell('Arguments that are no JSON were written as {"invalid_arguments": …}.');
      const functionCall = { id: part.id, name: part.name, args: argumentsValue(part.arguments) };
      return compact({ functionCall, thoughtSignature: seal, ...rest });
    }
    case 'tool-result':
      return { functionResponse: { ...writeResult(part, direction, losses, nameOf), ...rest } };
    case 'image':
    case 'audio':
    case 'file':
      return writeMedia(part, rest, losses);
    case 'ran-call':
      return losses.note('A call that was run on the way');
  }
}

function writeResult(part: ToolResultPart, direction: Direction, losses: Losses, nameOf: (callId: string) => string): JsonObject {
  const texts = part.content.filter((one) => one.type === 'text' || one.type === 'refusal');
  const shown = part.content.filter((one) => one.type !== 'text' && one.type !== 'refusal');
  const text = texts.map((one) => one.text).join('\n');
  const [only] = texts;
  const shape = only === undefined ? undefined : keptOf(only, format).item;
  const response =
    shape === 'json' ? objectIn(JSON.parse(text)) : { [part.isError ? 'error' : (textIn(shape) ?? 'output')]: text };
  const parts = shown.length === 0 ? undefined : writeGeminiParts(shown, direction, losses);
  return compact({ id: part.callId, name: part.name || nameOf(part.callId), response, parts });
}

function writeMedia(
  part: Extract<Part, { type: 'image' | 'audio' | 'file' }>,
  rest: JsonObject,
  losses: Losses,
): JsonObject | undefined {
  const { source } = part;
  const displayName = part.type === 'file' ? part.name : undefined;
  if (source.kind === 'data') {
    return { inlineData: compact({ mimeType: source.mediaType, data: source.data, displayName }), ...rest };
  }
  if (source.kind === 'url') {
    const usual = part.type === 'image' ? 'image/jpeg' : undefined;
    return { fileData: compact({ fileUri: source.url, mimeType: source.mediaType ?? usual, displayName }), ...rest };
  }
  return losses.note(`A part ${part.type} by an id of another provider`);
}
