import type { EventOf, TokenUsage } from '../../../conversation/answer.ts';
import { type JsonObject, keptOf, type Part, type RefusalPart, type TextPart } from '../../../conversation/conversation.ts';
import { objectIn, textIn } from '../json-fields.ts';
import type { AnswerContext, StreamWriter } from '../wire-format.ts';
import { createLosses, createWriting, serverSentEvent } from '../writing.ts';
import { writeResponseError, writeResponseShell, writeResponsesStop, writeResponsesUsage } from './answer.ts';
import { writeContentPart } from './content.ts';
import { isSaid, sharesItem, writeItem, writeMessageItem } from './items.ts';

const format = 'openai-responses';

/** An item on its way. A message may have several parts; every other item is one. */
interface OpenItem {
  readonly id: string;
  readonly outputIndex: number;
  readonly parts: (TextPart | RefusalPart)[];
  unended: number;
}

/** A part on its way. */
interface OpenContent {
  readonly part: Part;
  readonly item: OpenItem;
  readonly contentIndex: number;
  /** Whether the content of reasoning has begun, and which summary is being written. */
  hasContent: boolean;
  readonly summaries: string[];
}

/** Writes the events of a response: one `response.created`, one end, numbers that only grow. */
export function createResponsesStreamWriter(context: AnswerContext = {}): StreamWriter {
  const losses = createLosses(format);
  const contents = new Map<number, OpenContent>();
  const output: JsonObject[] = [];
  let shell: JsonObject = {};
  let sequence = 0;
  let nextOutputIndex = 0;
  let message: OpenItem | undefined;

  const emit = (type: string, fields: JsonObject): string =>
    serverSentEvent({ type, ...fields, sequence_number: sequence++ }, type);
  const about = ({ item, contentIndex }: OpenContent) => ({
    item_id: item.id,
    output_index: item.outputIndex,
    content_index: contentIndex,
  });
  const aboutItem = ({ item }: OpenContent) => ({ item_id: item.id, output_index: item.outputIndex });
  const idOf = (prefix: string) => `${prefix}_${String(shell.id)}_${nextOutputIndex}`;

  function startItem(item: JsonObject): { open: OpenItem; text: string } {
    const open = { id: textIn(item.id) ?? idOf('item'), outputIndex: nextOutputIndex++, parts: [], unended: 1 };
    return { open, text: emit('response.output_item.added', { output_index: open.outputIndex, item }) };
  }

  function endItem({ outputIndex }: OpenItem, item: JsonObject): string {
    output[outputIndex] = item;
    return emit('response.output_item.done', { output_index: outputIndex, item });
  }

  /** A message ends when its parts have ended and what comes next is not part of it. */
  function endMessage(): string {
    if (message === undefined || message.unended > 0) return '';
    const { id, parts } = message;
    const text = endItem(
      message,
      writeMessageItem(parts, () => id, losses),
    );
    message = undefined;
    return text;
  }

  function startPart({ index, part }: EventOf<'part-start'>): string {
    if (isSaid(part)) return startSaid(index, part);
    const ended = endMessage();
    const item = writeItem(part, idOf, losses);
    if (item === undefined) return ended;
    const { content, encrypted_content, ...empty } = item;
    const { open, text } = startItem(part.type === 'native' || part.type === 'image' ? item : { ...empty, ...emptyItem(part) });
    contents.set(index, { part, item: open, contentIndex: 0, hasContent: false, summaries: [] });
    if (part.type !== 'ran-call') return `${ended}${text}`;
    return `${ended}${text}${emit('response.mcp_call.in_progress', { item_id: open.id, output_index: open.outputIndex })}`;
  }

  function startSaid(index: number, part: TextPart | RefusalPart): string {
    let text = '';
    const isNext = message !== undefined && sharesItem(part, message.parts.at(-1));
    if (message === undefined || !isNext) {
      text += endMessage();
      const started = startItem({ ...writeMessageItem([part], idOf, losses), status: 'in_progress', content: [] });
      message = started.open;
      text += started.text;
    } else message.unended += 1;
    const content: OpenContent = { part, item: message, contentIndex: message.parts.length, hasContent: true, summaries: [] };
    message.parts.push(part);
    contents.set(index, content);
    return text + emit('response.content_part.added', { ...about(content), part: writeContentPart(part, true, losses) });
  }

  function continuePart({ index, text, channel }: EventOf<'part-delta'>): string {
    const content = contents.get(index);
    switch (content?.part.type) {
      case 'text':
        return emit('response.output_text.delta', { ...about(content), delta: text, logprobs: [] });
      case 'refusal':
        return emit('response.refusal.delta', { ...about(content), delta: text });
      case 'tool-call': {
        const name = content.part.isFreeText === true ? 'custom_tool_call_input' : 'function_call_arguments';
        return emit(`response.${name}.delta`, { ...aboutItem(content), delta: text });
      }
      case 'reasoning':
        return typeof channel === 'object' ? continueSummary(content, channel.summary, text) : continueReasoning(content, text);
      default:
        return '';
    }
  }

  function continueReasoning(content: OpenContent, delta: string): string {
    const part = { type: 'reasoning_text', text: '' };
    const begun = content.hasContent ? '' : emit('response.content_part.added', { ...about(content), part });
    content.hasContent = true;
    return begun + emit('response.reasoning_text.delta', { ...about(content), delta });
  }

  function continueSummary(content: OpenContent, summary_index: number, delta: string): string {
    const { summaries } = content;
    let text = '';
    if (summaries[summary_index] === undefined) {
      text += endSummary(content);
      summaries[summary_index] = '';
      const part = { type: 'summary_text', text: '' };
      text += emit('response.reasoning_summary_part.added', { ...aboutItem(content), summary_index, part });
    }
    summaries[summary_index] += delta;
    return text + emit('response.reasoning_summary_text.delta', { ...aboutItem(content), summary_index, delta });
  }

  function endSummary(content: OpenContent): string {
    const summary_index = content.summaries.length - 1;
    const text = content.summaries[summary_index];
    if (text === undefined) return '';
    const done = emit('response.reasoning_summary_text.done', { ...aboutItem(content), summary_index, text });
    return (
      done +
      emit('response.reasoning_summary_part.done', { ...aboutItem(content), summary_index, part: { type: 'summary_text', text } })
    );
  }

  function endPart({ index, part, warning }: EventOf<'part-end'>): string {
    const content = contents.get(index);
    contents.delete(index);
    if (content === undefined) return '';
    if (warning !== undefined) losses.tell('The pieces of a part differ from its end; the end counts.');
    if (isSaid(part)) return endSaid(content, part);
    const item = writeItem(part, () => content.item.id, losses) ?? {};
    return endBody(content, part) + endItem(content.item, { ...item, id: content.item.id });
  }

  function endSaid(content: OpenContent, part: TextPart | RefusalPart): string {
    const { item, contentIndex } = content;
    item.parts[contentIndex] = part;
    item.unended -= 1;
    const said = part.type === 'text' ? { text: part.text, logprobs: [] } : { refusal: part.text };
    const done = emit(part.type === 'text' ? 'response.output_text.done' : 'response.refusal.done', {
      ...about(content),
      ...said,
    });
    const text = done + emit('response.content_part.done', { ...about(content), part: writeContentPart(part, true, losses) });
    // Another item has begun meanwhile.
    return item.outputIndex === nextOutputIndex - 1 ? text : text + endOvertaken(item);
  }

  function endOvertaken(item: OpenItem): string {
    if (item.unended > 0) return '';
    if (message === item) return endMessage();
    return endItem(
      item,
      writeMessageItem(item.parts, () => item.id, losses),
    );
  }

  function endBody(content: OpenContent, part: Part): string {
    if (part.type === 'reasoning') {
      const summary = endSummary(content);
      if (!content.hasContent) return summary;
      const { text } = part;
      const done = emit('response.reasoning_text.done', { ...about(content), text });
      return summary + done + emit('response.content_part.done', { ...about(content), part: { type: 'reasoning_text', text } });
    }
    if (part.type === 'tool-call') {
      const { text } = part.arguments;
      if (part.isFreeText === true) return emit('response.custom_tool_call_input.done', { ...aboutItem(content), input: text });
      return emit('response.function_call_arguments.done', { ...aboutItem(content), name: part.name, arguments: text });
    }
    if (part.type !== 'ran-call') return '';
    const done = emit('response.mcp_call_arguments.done', { ...aboutItem(content), arguments: part.arguments.text });
    return done + emit(`response.mcp_call.${part.error === undefined ? 'completed' : 'failed'}`, aboutItem(content));
  }

  function end(type: string, ending: JsonObject, usage: TokenUsage | undefined): string {
    const counted = usage === undefined ? null : writeResponsesUsage(usage);
    const ended = endMessage();
    const response = { ...shell, ...ending, output: output.filter((item) => item !== undefined), usage: counted };
    return ended + emit(type, { response });
  }

  return createWriting(format, losses, {
    start(event) {
      shell = writeResponseShell(context.id ?? event.id, event.model, context, keptOf(event, format));
      return emit('response.created', { response: shell }) + emit('response.in_progress', { response: shell });
    },
    startPart,
    continuePart,
    endPart,
    writeNative({ sequence_number, type, ...fields }, index) {
      if (typeof type !== 'string') return '';
      const content = index === undefined ? undefined : contents.get(index);
      return emit(type, { ...fields, ...(content !== undefined && aboutItem(content)) });
    },
    finish({ kept, usage, ...event }) {
      const stop = writeResponsesStop(event.stop);
      const now = Math.floor(Date.now() / 1000);
      const completed_at = stop.status === 'completed' ? Math.max(Number(shell.created_at), now) : null;
      return end(`response.${stop.status}`, { completed_at, ...objectIn(kept?.[format]), ...stop }, usage);
    },
    fail: ({ failure, usage }) => end('response.failed', { status: 'failed', error: writeResponseError(failure) }, usage),
  });
}

/** An item has nothing yet when it is announced. */
function emptyItem(part: Part): JsonObject {
  if (part.type === 'reasoning') return { summary: [] };
  if (part.type === 'tool-call')
    return { status: 'in_progress', ...(part.isFreeText === true ? { input: '' } : { arguments: '' }) };
  return part.type === 'ran-call' ? { status: 'in_progress', arguments: '', output: null, error: null } : {};
}
