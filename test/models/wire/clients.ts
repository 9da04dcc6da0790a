import type { WireFormatName } from '../../../src/models/wire/wire-format.ts';

/** A call as a client finds it: its arguments as text where the format has one, else as a value. */
export interface FoundCall {
  readonly name: string;
  readonly given: unknown;
}

/** What a client of a format finds in an answer, read without the code under test. */
export interface Found {
  readonly text: string;
  readonly calls: readonly FoundCall[];
  readonly stop: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked into as a client would
type Wire = any;

const value = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

function eventsOf(text: string): { event: string | undefined; data: string }[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const lines = block.split('\n');
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7);
      return {
        event,
        data: lines
          .filter((line) => line.startsWith('data: '))
          .map((line) => line.slice(6))
          .join('\n'),
      };
    });
}

const wholeReaders: Record<WireFormatName, (answer: Wire) => Found> = {
  'openai-chat': ({ choices: [{ message, finish_reason }] }) => ({
    text: message.content ?? '',
    calls: (message.tool_calls ?? []).map((call: Wire) => ({ name: call.function.name, given: value(call.function.arguments) })),
    stop: finish_reason,
  }),
  'openai-responses': ({ output, status, incomplete_details }) => ({
    text: output.flatMap((item: Wire) => (item.type === 'message' ? item.content.map((part: Wire) => part.text) : [])).join(''),
    calls: output.flatMap((item: Wire) =>
      item.type === 'function_call' ? [{ name: item.name, given: value(item.arguments) }] : [],
    ),
    stop: incomplete_details?.reason ?? status,
  }),
  anthropic: ({ content, stop_reason }) => ({
    text: content.flatMap((block: Wire) => (block.type === 'text' ? [block.text] : [])).join(''),
    calls: content.flatMap((block: Wire) => (block.type === 'tool_use' ? [{ name: block.name, given: block.input }] : [])),
    stop: stop_reason,
  }),
  gemini: ({ candidates: [{ content, finishReason }] }) => ({
    text: content.parts.flatMap((part: Wire) => part.text ?? []).join(''),
    calls: content.parts.flatMap((part: Wire) =>
      part.functionCall ? [{ name: part.functionCall.name, given: part.functionCall.args }] : [],
    ),
    stop: finishReason,
  }),
};

const streamReaders: Record<WireFormatName, (text: string) => Found> = {
  'openai-chat': (text) => {
    const events = eventsOf(text);
    if (events.at(-1)?.data !== '[DONE]') throw new Error('The stream has no [DONE] at its end.');
    const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data));
    const deltas = chunks.flatMap((chunk: Wire) => chunk.choices.map((choice: Wire) => choice.delta));
    const calls: { name: string; text: string }[] = [];
    for (const call of deltas.flatMap((delta: Wire) => delta.tool_calls ?? [])) {
      calls[call.index] ??= { name: call.function.name, text: '' };
      const found = calls[call.index];
      if (found !== undefined) found.text += call.function.arguments ?? '';
    }
    const reasons = chunks.flatMap((chunk: Wire) => chunk.choices.flatMap((choice: Wire) => choice.finish_reason ?? []));
    if (reasons.length !== 1) throw new Error(`${reasons.length} reasons to stop in one stream.`);
    const said = deltas.map((delta: Wire) => delta.content ?? '').join('');
    return { text: said, calls: calls.map((call) => ({ name: call.name, given: value(call.text) })), stop: reasons[0] };
  },
  'openai-responses': (text) => {
    const events = eventsOf(text).map(({ data }) => JSON.parse(data));
    events.forEach(({ sequence_number }, position) => {
      if (sequence_number !== position) throw new Error(`Number ${sequence_number} at position ${position}.`);
    });
    const added = events.filter(({ type }) => type === 'response.output_item.added').map(({ output_index }) => output_index);
    if (added.some((index, position) => index !== position)) throw new Error('The output has indexes out of order.');
    const ends = events.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
    if (ends.length !== 1 || events.at(-1) !== ends[0]) throw new Error('The stream has not one end.');
    if (events.filter(({ type }) => type === 'response.created').length !== 1)
      throw new Error('The stream has not one beginning.');
    const texts = new Map<string, string>();
    for (const { type, item_id, delta } of events) {
      if (type === 'response.function_call_arguments.delta') texts.set(item_id, (texts.get(item_id) ?? '') + delta);
    }
    const { response } = ends[0];
    for (const item of response.output) {
      if (item.type === 'function_call' && texts.get(item.id) !== item.arguments)
        throw new Error('The pieces are not the arguments.');
    }
    return wholeReaders['openai-responses'](response);
  },
  anthropic: (text) => {
    const events = eventsOf(text).map(({ event, data }) => ({ event, ...JSON.parse(data) }));
    if (events[0]?.type !== 'message_start' || events.at(-1)?.type !== 'message_stop')
      throw new Error('The message has no beginning or no end.');
    const content: Wire[] = [];
    let open: number | undefined;
    let stop: unknown;
    for (const { type, event, index, content_block, delta } of events) {
      if (type !== event) throw new Error(`The event ${event} has the type ${type}.`);
      if (type === 'content_block_start') {
        if (open !== undefined || index !== content.length) throw new Error('Blocks do not follow one another.');
        open = index;
        content.push({ ...content_block, json: '' });
      }
      if (type === 'content_block_delta') {
        if (index !== open) throw new Error('A piece of a block that is not open.');
        content[index].json += delta.partial_json ?? '';
        content[index].text += delta.text ?? '';
      }
      if (type === 'content_block_stop') open = undefined;
      if (type === 'message_delta') stop = delta.stop_reason;
    }
    if (open !== undefined) throw new Error('A block has no end.');
    const blocks = content.map((block) => (block.type === 'tool_use' ? { ...block, input: value(block.json) } : block));
    return wholeReaders.anthropic({ content: blocks, stop_reason: stop });
  },
  gemini: (text) => {
    const chunks = eventsOf(text).map(({ data }) => JSON.parse(data));
    const parts = chunks.flatMap((chunk: Wire) => chunk.candidates[0].content.parts);
    const reasons = chunks.flatMap((chunk: Wire) => chunk.candidates[0].finishReason ?? []);
    if (reasons.length !== 1) throw new Error(`${reasons.length} reasons to stop in one stream.`);
    return wholeReaders.gemini({ candidates: [{ content: { parts }, finishReason: reasons[0] }] });
  },
};

/** What a client finds in an answer, or in the text of a stream. */
export function findAsClient(format: WireFormatName, answer: unknown): Found {
  return typeof answer === 'string' ? streamReaders[format](answer) : wholeReaders[format](answer);
}
