import { omitUndefined } from '../../../config/json-object.ts';
import {
  type JsonObject,
  keep,
  keptOf,
  type Part,
  type ReasoningPart,
  type RefusalPart,
  type TextPart,
  type ToolCallPart,
} from '../../../conversation/conversation.ts';
import { freeTextArguments, readToolArguments } from '../../../conversation/tool-arguments.ts';
import { compact, objectIn, objectsIn, onlyText, textIn } from '../json-fields.ts';
import { argumentsText } from '../openai-shapes.ts';
import { type ReadName, readCallPart, sealAs, unseal, writeEach } from '../parts.ts';
import type { Losses } from '../writing.ts';
import { readContentPart, readResponsesContent, writeContentPart } from './content.ts';

const format = 'openai-responses';

/** Reads an item that the assistant made. */
export function readOutputItem(item: JsonObject, readName?: ReadName, isCut = false): Part[] {
  const { type, ...fields } = item;
  switch (type) {
    case 'message':
      return readOutputMessage(fields);
    case 'reasoning':
      return [readReasoning(fields)];
    case 'function_call': {
      const { call_id, name, arguments: given, ...rest } = fields;
      const isOpen = isCut && fields.status !== 'completed';
      const read = readToolArguments(argumentsText(given), { isCut: isOpen });
      return [readCallPart(format, { id: call_id, name, given: read, rest }, readName)];
    }
    case 'custom_tool_call': {
      const { call_id, name, input, ...rest } = fields;
      const given = freeTextArguments(textIn(input) ?? '');
      return [readCallPart(format, { id: call_id, name, given, isFreeText: true, rest }, readName)];
    }
    case 'mcp_call': {
      const { id, server_label, name, arguments: given, output, error, ...rest } = fields;
      const failed = error === null || error === undefined ? undefined : (textIn(error) ?? JSON.stringify(error));
      const about = { id: textIn(id) ?? '', server: textIn(server_label) ?? '', name: textIn(name) ?? '' };
      const came = omitUndefined({ output: textIn(output), error: failed });
      return [{ type: 'ran-call', ...about, arguments: readToolArguments(argumentsText(given)), ...came, ...keep(format, rest) }];
    }
    case 'image_generation_call': {
      const { result, ...rest } = fields;
      if (typeof result !== 'string') break;
      const source = { kind: 'data' as const, mediaType: `image/${textIn(fields.output_format) ?? 'png'}`, data: result };
      return [{ type: 'image', source, ...keep(format, rest) }];
    }
  }
  return [{ type: 'native', format, value: item }];
}

function readOutputMessage({ content, role, phase, ...item }: JsonObject): Part[] {
  const said = readPhase(phase);
  const parts = typeof content === 'string' ? readResponsesContent(content, 'content') : objectsIn(content).map(readContentPart);
  return parts.map((part): Part => {
    if (!isSaid(part)) return part;
    const extras = keep(format, itemExtras(part, item));
    return part.type === 'text' && said !== undefined ? { ...part, phase: said, ...extras } : { ...part, ...extras };
  });
}

/** What a text is said for. */
export function readPhase(phase: unknown): TextPart['phase'] {
  return phase === 'commentary' || phase === 'final_answer' ? phase : undefined;
}

function itemExtras(part: TextPart | RefusalPart, item: JsonObject): JsonObject {
  return Object.keys(item).length === 0 ? keptOf(part, format) : { ...keptOf(part, format), item };
}

function readReasoning({ summary, content, encrypted_content, ...rest }: JsonObject): ReasoningPart {
  const summaries = objectsIn(summary).map(({ text }) => textIn(text) ?? '');
  const sealed = unseal(format, encrypted_content);
  const text = objectsIn(content)
    .map((part) => textIn(part.text) ?? '')
    .join('');
  return {
    type: 'reasoning',
    text,
    ...(summaries.length > 0 && { summaries }),
    ...(sealed && { sealed }),
    ...keep(format, rest),
  };
}

/** Whether two parts stand in the same message item. */
export function sharesItem(part: Part, other: Part | undefined): boolean {
  if (other === undefined || !isSaid(part) || !isSaid(other)) return false;
  const { id } = objectIn(keptOf(part, format).item);
  return typeof id === 'string' && objectIn(keptOf(other, format).item).id === id;
}

/** Parts that stand in a message item. */
export function isSaid(part: Part): part is TextPart | RefusalPart {
  return part.type === 'text' || part.type === 'refusal';
}

/** Writes the parts of an assistant's message as items. `idOf` names those that have no id. */
export function writeOutputItems(parts: readonly Part[], idOf: (prefix: string) => string, losses: Losses): JsonObject[] {
  const items: JsonObject[] = [];
  let said: (TextPart | RefusalPart)[] = [];
  const flush = () => {
    if (said.length > 0) items.push(writeMessageItem(said, idOf, losses));
    said = [];
  };
  for (const part of parts) {
    if (said.length > 0 && !sharesItem(part, said.at(-1))) flush();
    if (isSaid(part)) said.push(part);
    else {
      const item = writeItem(part, idOf, losses);
      if (item !== undefined) items.push(item);
    }
  }
  flush();
  return items;
}

/** Writes a message item of the assistant. */
export function writeMessageItem(
  parts: readonly (TextPart | RefusalPart)[],
  idOf: (prefix: string) => string,
  losses: Losses,
): JsonObject {
  const [first] = parts;
  const item = first === undefined ? {} : objectIn(keptOf(first, format).item);
  const phase = first?.type === 'text' ? first.phase : undefined;
  const content = writeEach(parts, (part) => writeContentPart(part, true, losses));
  const head = { type: 'message', id: textIn(item.id) ?? idOf('msg'), role: 'assistant', status: 'completed' };
  return compact({ ...head, phase, ...item, content });
}

/** Writes the item of one part that is no text; undefined when it has no place. */
export function writeItem(
  part: Exclude<Part, TextPart | RefusalPart>,
  idOf: (prefix: string) => string,
  losses: Losses,
): JsonObject | undefined {
  if (part.type === 'native') return losses.takeNative('A part', part);
  losses.noteKept(part, `part ${part.type}`);
  const rest = keptOf(part, format);
  const idAs = (prefix: string) => textIn(rest.id) ?? idOf(prefix);
  switch (part.type) {
    case 'reasoning': {
      const summary = (part.summaries ?? []).map((text) => ({ type: 'summary_text', text }));
      const content = part.text === '' ? undefined : [{ type: 'reasoning_text', text: part.text }];
      const encrypted_content = sealAs(format, part.sealed);
      return compact({ type: 'reasoning', id: idAs('rs'), summary, content, encrypted_content, ...rest });
    }
    case 'tool-call':
      return writeCallItem(part, idAs('fc'), losses);
    case 'ran-call': {
      const { server: server_label, name, output = null, error = null } = part;
      const status = error === null ? 'completed' : 'failed';
      const said = { server_label, name, arguments: part.arguments.text, output, error, status };
      return { type: 'mcp_call', id: part.id, ...said, ...rest };
    }
    case 'image':
      if (part.source.kind !== 'data') return losses.note('An image of the assistant by its URL or id');
      return { type: 'image_generation_call', id: idAs('ig'), status: 'completed', result: part.source.data, ...rest };
    case 'tool-result':
    case 'file':
    case 'audio':
      return losses.note(`A part ${part.type} of the assistant`);
  }
}

function writeCallItem(part: ToolCallPart, id: string, losses: Losses): JsonObject {
  if (part.sealed !== undefined) losses.note('The signature of a call');
  const { arguments: given } = part;
  const head = { id, call_id: part.id, name: part.name };
  const status = given.state === 'broken' ? 'incomplete' : 'completed';
  if (part.isFreeText === true) return { type: 'custom_tool_call', ...head, input: given.text, status, ...keptOf(part, format) };
  return { type: 'function_call', ...head, arguments: given.text, ...keptOf(part, format), status };
}

/** Writes the result of a call. */
export function writeResultItem(part: Part, losses: Losses): JsonObject | undefined {
  if (part.type === 'native') return writeItem(part, () => '', losses);
  if (part.type !== 'tool-result') return losses.note(`A part ${part.type} among results`);
  losses.noteKept(part, 'tool-result');
  if (part.isError) losses.note('That a result is an error (its text still says so)');
  const content = writeEach(part.content, (one) => writeContentPart(one, false, losses));
  const output = content.length === 0 ? '' : (onlyText(content) ?? content);
  const type = part.isFreeText === true ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: part.callId, output, ...keptOf(part, format) };
}
