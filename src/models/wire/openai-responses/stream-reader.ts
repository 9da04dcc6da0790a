import { isObject } from '../../../config/json-object.ts';
import { type JsonObject, keep, type Part } from '../../../conversation/conversation.ts';
import { readFailureIn } from '../failures.ts';
import { numberIn, objectIn, objectsIn, textIn } from '../json-fields.ts';
import { builderFor, createReading, nameReaderOf } from '../reading.ts';
import type { ReadOptions, StreamReader } from '../wire-format.ts';
import { readResponseError, readResponsesStop, readResponsesUsage } from './answer.ts';
import { readOutputItem, readPhase } from './items.ts';

const format = 'openai-responses';

/** Reads the events of a response; also a whole response instead of a stream. */
export function createResponsesStreamReader(options: ReadOptions = {}): StreamReader {
  const builder = builderFor<string>(options);
  const readName = nameReaderOf(options);
  const items = new Map<number, JsonObject>();

  /** The index of the item of an event: told, or by the item's id, or the latest. */
  function indexOf({ output_index, item_id, item }: JsonObject): number {
    const index = numberIn(output_index);
    if (index !== undefined) return index;
    const id = item_id ?? objectIn(item).id;
    const found = id === undefined ? undefined : [...items].find(([, other]) => other.id === id)?.[0];
    return found ?? Math.max(0, items.size - (item === undefined ? 1 : 0));
  }

  function beginItem(index: number, item: JsonObject): void {
    if (items.has(index)) return;
    items.set(index, item);
    const { type, id, call_id, name, arguments: given, input, summary, content, encrypted_content, ...rest } = item;
    const kept = keep(format, id === undefined ? rest : { id, ...rest }).kept;
    if (type === 'reasoning') builder.open(`${index}`, 'reasoning', { kept });
    if (type !== 'function_call' && type !== 'custom_tool_call') return;
    const about = { id: textIn(call_id), name: readName(textIn(name) ?? ''), kept };
    builder.open(`${index}`, type === 'function_call' ? 'tool-call' : 'free-text-call', about);
  }

  /** The part of a message item that an event is about. */
  function openContent(event: JsonObject, kind: 'text' | 'refusal'): string {
    const index = indexOf(event);
    const key = `${index}.${numberIn(event.content_index) ?? 0}`;
    const { content, role, type, phase, ...item } = items.get(index) ?? {};
    const identity = Object.keys(item).length === 0 && typeof event.item_id === 'string' ? { id: event.item_id } : item;
    builder.open(key, kind, { phase: readPhase(phase), kept: keep(format, { item: identity }).kept });
    return key;
  }

  /** The item as it is in the end: what was missed of it comes now, and of calls this counts more than the pieces. */
  function endItem(index: number, item: JsonObject, isCut: boolean): void {
    beginItem(index, item);
    const parts = readOutputItem(item, readName, isCut);
    const isMessage = item.type === 'message';
    parts.forEach((part, position) => {
      const key = isMessage ? `${index}.${position}` : `${index}`;
      if (builder.has(key)) settle(key, part, item.status !== 'in_progress' && !isCut);
      else if (item.status !== 'in_progress' || isCut) builder.whole(key, nameless(part));
    });
  }

  function settle(key: string, part: Part, isClosed: boolean): void {
    const kept = 'kept' in part ? part.kept : undefined;
    if (part.type === 'tool-call') builder.settle(key, { id: part.id, name: part.name, text: part.arguments.text, kept });
    else if (part.type === 'reasoning')
      builder.settle(key, { text: part.text, summaries: part.summaries, sealed: part.sealed, kept });
    else if (part.type === 'text') builder.settle(key, { text: part.text, phase: part.phase, kept });
    else if (part.type === 'refusal') builder.settle(key, { text: part.text, kept });
    if (isClosed) builder.close(key);
  }

  function nameless(part: Part): Part {
    return part.type === 'tool-call' && part.id === '' ? { ...part, id: `call_${items.size}` } : part;
  }

  function endResponse(response: JsonObject) {
    begin(response);
    const { id, model, output, usage, status, error, incomplete_details, object, ...rest } = response;
    objectsIn(output).forEach((item, position) => {
      const known = [...items].find(([, other]) => other.id !== undefined && other.id === item.id)?.[0];
      endItem(known ?? position, item, status !== 'completed');
    });
    const counted = isObject(usage) ? readResponsesUsage(usage) : undefined;
    if (status === 'failed') builder.fail(readResponseError(error), counted);
    else builder.finish(readResponsesStop(status, incomplete_details), { usage: counted, kept: keep(format, rest).kept });
  }

  function begin(response: JsonObject): void {
    const { id, model, output, usage, status, error, incomplete_details, object, ...rest } = response;
    builder.start({ id: textIn(id) ?? '', model: textIn(model) ?? '', kept: keep(format, rest).kept });
  }

  function read(event: JsonObject) {
    const delta = textIn(event.delta) ?? '';
    const key = `${indexOf(event)}`;
    switch (event.type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return begin(objectIn(event.response));
      case 'response.output_item.added':
        return beginItem(indexOf(event), objectIn(event.item));
      case 'response.content_part.added': {
        const { type } = objectIn(event.part);
        if (type === 'output_text' || type === 'refusal') openContent(event, type === 'refusal' ? 'refusal' : 'text');
        return;
      }
      case 'response.output_text.delta':
        return builder.add(openContent(event, 'text'), delta);
      case 'response.refusal.delta':
        return builder.add(openContent(event, 'refusal'), delta);
      case 'response.output_text.done':
        return builder.settle(openContent(event, 'text'), { text: textIn(event.text) });
      case 'response.refusal.done':
        return builder.settle(openContent(event, 'refusal'), { text: textIn(event.refusal) });
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.added':
      case 'response.reasoning_summary_part.done':
      case 'response.reasoning_summary_text.done':
      case 'response.reasoning_text.done':
        return;
      case 'response.reasoning_text.delta':
        builder.open(key, 'reasoning');
        return builder.add(key, delta);
      case 'response.reasoning_summary_text.delta':
        builder.open(key, 'reasoning');
        return builder.add(key, delta, { summary: numberIn(event.summary_index) ?? 0 });
      case 'response.function_call_arguments.delta':
        builder.open(key, 'tool-call');
        return builder.add(key, delta);
      case 'response.custom_tool_call_input.delta':
        builder.open(key, 'free-text-call');
        return builder.add(key, delta);
      case 'response.function_call_arguments.done':
        builder.open(key, 'tool-call');
        return builder.settle(key, { text: textIn(event.arguments), name: readName(textIn(event.name) ?? '') });
      case 'response.custom_tool_call_input.done':
        builder.open(key, 'free-text-call');
        return builder.settle(key, { text: textIn(event.input) });
      case 'response.output_item.done':
        return endItem(indexOf(event), objectIn(event.item), false);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return endResponse({ status: event.type.slice('response.'.length), ...objectIn(event.response) });
      case 'error':
        return builder.fail(readFailureIn(isObject(event.error) ? event : { error: event }));
      default:
        if (event.object === 'response') return endResponse(event);
        builder.native(format, event, builder.has(key) ? key : `${key}.${numberIn(event.content_index) ?? 0}`);
    }
  }

  return createReading({ format, builder, read, end: () => builder.finish({ kind: 'interrupted' }) });
}
