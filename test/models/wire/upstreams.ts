import type { WireFormatName } from '../../../src/models/wire/wire-format.ts';

/** How the arguments of a call come. */
export const shapes = ['fragments', 'final event only', 'whole', 'empty', 'truncated', 'two interleaved'] as const;
export type Shape = (typeof shapes)[number];

/** A call as an upstream makes it. `cut` is the part of its arguments after which it fell silent. */
export interface UpstreamCall {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

const weather = { id: 'call_1', name: 'weather', text: '{"city": "Zürich \\"ZH\\"", "days": [1, 2], "note": "a\\nb 🌍"}' };
const time = { id: 'call_2', name: 'time', text: '{"zone":"Europe/Zurich","deep":{"a":[{}],"b":null}}' };
/** How much of the arguments comes before the stream is cut off. */
const cutAt = 30;

/** The calls that a shape is about. */
export function callsOf(shape: Shape): UpstreamCall[] {
  if (shape === 'empty') return [{ ...weather, text: '' }];
  if (shape === 'truncated') return [{ ...weather, text: weather.text.slice(0, cutAt) }];
  return shape === 'two interleaved' ? [weather, time] : [weather];
}

function fragmentsOf(text: string): string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}

const sse = (value: unknown, event?: string) =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;

/** The fragments of all calls, taking turns. */
function interleave(calls: readonly UpstreamCall[]): { call: UpstreamCall; index: number; piece: string }[] {
  const queues = calls.map((call, index) => fragmentsOf(call.text).map((piece) => ({ call, index, piece })));
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => queues.flatMap((queue) => queue[turn] ?? [])).flat();
}

type Streams = Record<WireFormatName, (shape: Shape, calls?: readonly UpstreamCall[]) => string>;

/** What upstreams of each format stream. */
export const streams: Streams = {
  'openai-chat': (shape, calls = callsOf(shape)) => {
    const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
      sse({
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason, ...more }],
      });
    const head = chunk({ role: 'assistant', content: 'Let me see.' });
    const begin = ({ id, name, text }: UpstreamCall, index: number, given = '') =>
      chunk({
        tool_calls: [{ index, id, type: 'function', function: { name, arguments: given || (shape === 'whole' ? text : '') } }],
      });
    const entries = calls.map(({ id, name, text }) => ({ id, type: 'function', function: { name, arguments: text } }));
    if (shape === 'final event only') {
      const started = calls.map((call, index) => begin(call, index)).join('');
      return `${head}${started}${chunk({}, 'tool_calls', { message: { role: 'assistant', content: null, tool_calls: entries } })}data: [DONE]\n\n`;
    }
    const started = calls.map((call, index) => begin(call, index)).join('');
    const pieces = shape === 'whole' ? [] : interleave(calls);
    const body = pieces.map(({ index, piece }) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })).join('');
    return shape === 'truncated' ? head + started + body : `${head}${started}${body}${chunk({}, 'tool_calls')}data: [DONE]\n\n`;
  },
  'openai-responses': (shape, calls = callsOf(shape)) => {
    let sequence_number = 0;
    const event = (type: string, fields: object) => sse({ type, sequence_number: sequence_number++, ...fields }, type);
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
    const text = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Let me see.', annotations: [] }],
    };
    const head =
      event('response.created', { response }) +
      event('response.output_item.added', { output_index: 0, item: { ...text, status: 'in_progress', content: [] } }) +
      event('response.content_part.added', {
        output_index: 0,
        content_index: 0,
        item_id: 'msg_1',
        part: { type: 'output_text', text: '' },
      }) +
      event('response.output_text.delta', { output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'Let me see.' }) +
      event('response.output_item.done', { output_index: 0, item: text });
    const item = ({ id, name }: UpstreamCall, given: string, status: string) => ({
      id: `fc_${id}`,
      type: 'function_call',
      call_id: id,
      name,
      arguments: given,
      status,
    });
    const at = (index: number) => ({ output_index: index + 1, item_id: `fc_${calls[index]?.id}` });
    const started = calls
      .map((call, index) => event('response.output_item.added', { ...at(index), item: item(call, '', 'in_progress') }))
      .join('');
    const pieces = ['final event only', 'empty'].includes(shape)
      ? []
      : shape === 'whole'
        ? calls.map((call, index) => ({ call, index, piece: call.text }))
        : interleave(calls);
    const body = pieces
      .map(({ index, piece }) => event('response.function_call_arguments.delta', { ...at(index), delta: piece }))
      .join('');
    if (shape === 'truncated') return head + started + body;
    const ends = calls
      .map((call, index) => event('response.function_call_arguments.done', { ...at(index), arguments: call.text }))
      .join('');
    // Where the arguments come with the final event alone, even the end of the item has none.
    const closed =
      shape === 'final event only'
        ? ''
        : calls
            .map((call, index) => event('response.output_item.done', { ...at(index), item: item(call, call.text, 'completed') }))
            .join('');
    const output = shape === 'final event only' ? [] : [text, ...calls.map((call) => item(call, call.text, 'completed'))];
    return (
      head +
      started +
      body +
      ends +
      closed +
      event('response.completed', { response: { ...response, status: 'completed', output } })
    );
  },
  anthropic: (shape, calls = callsOf(shape)) => {
    const event = (value: { type: string } & Record<string, unknown>) => sse(value, value.type);
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    };
    const head =
      event({ type: 'message_start', message }) +
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
      event({ type: 'ping' }) +
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Let me see.' } }) +
      event({ type: 'content_block_stop', index: 0 });
    const isAtStart = shape === 'final event only';
    const started = calls.map(({ id, name, text }, index) =>
      event({
        type: 'content_block_start',
        index: index + 1,
        content_block: { type: 'tool_use', id, name, input: isAtStart ? JSON.parse(text) : {} },
      }),
    );
    const pieces = isAtStart
      ? []
      : shape === 'whole'
        ? calls.map((call, index) => ({ call, index, piece: call.text }))
        : interleave(calls);
    const body = pieces.map(({ index, piece }) =>
      event({ type: 'content_block_delta', index: index + 1, delta: { type: 'input_json_delta', partial_json: piece } }),
    );
    if (shape === 'truncated') return head + started.join('') + body.join('');
    const stopped = calls.map((_, index) => event({ type: 'content_block_stop', index: index + 1 }));
    const end = event({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 9 },
    });
    return head + [...started, ...body, ...stopped].join('') + end + event({ type: 'message_stop' });
  },
  gemini: (shape, calls = callsOf(shape)) => {
    const chunk = (parts: object[], more: object = {}) =>
      sse({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], modelVersion: 'm', responseId: 'g1' });
    const head = chunk([{ text: 'Let me ' }]) + chunk([{ text: 'see.' }]);
    const end = chunk([{ text: '' }], { finishReason: 'STOP' });
    const argsOf = ({ text }: UpstreamCall) => (text === '' ? undefined : JSON.parse(text));
    if (shape === 'truncated') {
      const partialArgs = [{ jsonPath: '$.city', stringValue: 'Zür', willContinue: true }];
      return head + chunk([{ functionCall: { id: 'call_1', name: 'weather', partialArgs, willContinue: true } }]);
    }
    if (shape === 'final event only') {
      const started = calls.map(({ id, name }) => chunk([{ functionCall: { id, name, willContinue: true } }]));
      return head + started.join('') + calls.map((call) => chunk([{ functionCall: { args: argsOf(call) } }])).join('') + end;
    }
    if (shape === 'fragments') {
      const pieces = [
        { id: 'call_1', name: 'weather', willContinue: true },
        { partialArgs: [{ jsonPath: '$.city', stringValue: 'Zürich ', willContinue: true }], willContinue: true },
        {
          partialArgs: [
            { jsonPath: '$.city', stringValue: '"ZH"' },
            { jsonPath: '$.days[0]', numberValue: 1 },
          ],
          willContinue: true,
        },
        {
          partialArgs: [
            { jsonPath: '$.days[1]', numberValue: 2 },
            { jsonPath: '$.note', stringValue: 'a\nb 🌍' },
          ],
          willContinue: true,
        },
        {},
      ];
      return head + pieces.map((functionCall) => chunk([{ functionCall }])).join('') + end;
    }
    return head + chunk(calls.map((call) => ({ functionCall: { id: call.id, name: call.name, args: argsOf(call) } }))) + end;
  },
};

/** What upstreams of each format answer in one piece. */
export const answers: Record<WireFormatName, (shape: Shape, calls?: readonly UpstreamCall[]) => unknown> = {
  'openai-chat': (shape, made = callsOf(shape)) => {
    const tool_calls = made.map(({ id, name, text }) => ({
      id,
      type: 'function',
      function: { name, arguments: shape === 'whole' ? JSON.parse(text) : text },
    }));
    const finish_reason = shape === 'truncated' ? 'length' : shape === 'final event only' ? 'stop' : 'tool_calls';
    return {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Let me see.', tool_calls }, finish_reason }],
    };
  },
  'openai-responses': (shape, made = callsOf(shape)) => {
    const isCut = shape === 'truncated';
    const calls = made.map(({ id, name, text }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: text,
      status: isCut ? 'incomplete' : 'completed',
    }));
    const text = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Let me see.', annotations: [] }],
    };
    const ending = isCut
      ? { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
      : { status: 'completed' };
    return { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [text, ...calls], ...ending };
  },
  anthropic: (shape, made = callsOf(shape)) => {
    const inputOf = (text: string) => (text === '' ? {} : shape === 'truncated' || shape === 'whole' ? text : JSON.parse(text));
    const calls = made.map(({ id, name, text }) => ({ type: 'tool_use', id, name, input: inputOf(text) }));
    const stop_reason = shape === 'truncated' ? 'max_tokens' : 'tool_use';
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Let me see.' }, ...calls],
      stop_reason,
    };
  },
  gemini: (shape, made = callsOf(shape)) => {
    const argsOf = (text: string) => (text === '' ? undefined : shape === 'truncated' ? text : JSON.parse(text));
    const parts = made.map(({ id, name, text }) => ({ functionCall: { id, name, args: argsOf(text) } }));
    const finishReason = shape === 'truncated' ? 'MAX_TOKENS' : 'STOP';
    return {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Let me see.' }, ...parts] }, finishReason }],
      modelVersion: 'm',
      responseId: 'g1',
    };
  },
};
