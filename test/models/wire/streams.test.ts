import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../../src/conversation/answer.ts';
import { createAnswerCollector, eventsOfAnswer } from '../../../src/conversation/collect-answer.ts';
import type { Part } from '../../../src/conversation/conversation.ts';
import type { ConversationRequest } from '../../../src/conversation/request.ts';
import { readFailure } from '../../../src/models/wire/failures.ts';
import type { WireFormatName } from '../../../src/models/wire/wire-format.ts';
import { wireFormats } from '../../../src/models/wire/wire-formats.ts';
import { findStreamBreaches } from '../../conversation/stream-breaches.ts';

const names = Object.keys(wireFormats) as WireFormatName[];
const sse = (value: Record<string, unknown>) =>
  `${typeof value.type === 'string' ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`;

function readStream(from: WireFormatName, text: string, request?: ConversationRequest): StreamEvent[] {
  const reader = wireFormats[from].createStreamReader({ ...(request && { request }), newId: (prefix) => `${prefix}_x` });
  const events = [...reader.push(text), ...reader.end()];
  expect(findStreamBreaches(events)).toEqual([]);
  return events;
}

function answerOf(events: readonly StreamEvent[]) {
  const collector = createAnswerCollector();
  events.forEach(collector.push);
  return collector.answer();
}

function writeStream(to: WireFormatName, events: readonly StreamEvent[], request?: ConversationRequest) {
  const writer = wireFormats[to].createStreamWriter({ ...(request && { request }), createdAt: 1 });
  const text = events.map((event) => writer.write(event)).join('');
  const values = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  return { text, values, warnings: writer.warnings };
}

describe('a stream in the same format', () => {
  it('of Responses keeps items and events that only it knows, with their place', () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { query: 'q' } };
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] };
    const text = [
      { type: 'response.created', response },
      { type: 'response.new_thing', detail: [1] },
      { type: 'response.output_item.added', output_index: 0, item: { ...search, status: 'in_progress' } },
      { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
      { type: 'response.output_item.done', output_index: 0, item: search },
      { type: 'response.completed', response: { ...response, status: 'completed', output: [search] } },
    ];
    const { values, warnings } = writeStream('openai-responses', readStream('openai-responses', text.map(sse).join('')));
    expect(warnings).toEqual([]);
    expect(values.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['response.new_thing', 'response.web_search_call.searching']),
    );
    expect(values.map(({ sequence_number }) => sequence_number)).toEqual(values.map((_, position) => position));
    expect(values.at(-1).response.output).toEqual([search]);
  });

  it('of Anthropic keeps server tools, citations, signatures and what is new', () => {
    const text = [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 0 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'blob' } },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"query":"q"}' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'content_block_start', index: 3, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'So.' } },
      { type: 'content_block_delta', index: 3, delta: { type: 'citations_delta', citation: { type: 'c' } } },
      { type: 'content_block_stop', index: 3 },
      { type: 'brand_new', a: 1 },
      { type: 'message_delta', delta: { stop_reason: 'pause_turn', stop_sequence: null }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ];
    const events = readStream('anthropic', text.map(sse).join(''));
    expect(answerOf(events)).toMatchObject({
      parts: [
        { type: 'reasoning', text: 'Hm.', sealed: { value: 'sig' } },
        { type: 'reasoning', text: '', sealed: { value: 'blob', isRedacted: true } },
        { type: 'native', value: { type: 'server_tool_use', input: { query: 'q' } } },
        { type: 'text', text: 'So.', kept: { anthropic: { citations: [{ type: 'c' }] } } },
      ],
      stop: { kind: 'pause' },
      usage: { inputTokens: 12, cacheReadTokens: 7, outputTokens: 9 },
    });
    const { values, warnings } = writeStream('anthropic', events);
    expect(warnings).toEqual([]);
    const blocks = values.filter(({ type }) => type === 'content_block_start').map(({ content_block }) => content_block.type);
    expect(blocks).toEqual(['thinking', 'redacted_thinking', 'server_tool_use', 'text']);
    const deltas = values.flatMap(({ delta }) => delta?.type ?? []);
    expect(deltas).toEqual(['thinking_delta', 'signature_delta', 'text_delta', 'citations_delta']);
    expect(values).toContainEqual({ type: 'brand_new', a: 1 });
    expect(values.at(-2)).toMatchObject({
      delta: { stop_reason: 'pause_turn' },
      usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 9 },
    });
  });

  it('of Chat Completions keeps logprobs, and fields of its server', () => {
    const chunk = (choice: object, more = {}) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      provider: 'p',
      choices: [{ index: 0, ...choice }],
      ...more,
    });
    const text = [
      chunk({ delta: { role: 'assistant', content: '' }, finish_reason: null }),
      chunk({ delta: { reasoning: 'Hm.' } }),
      chunk({ delta: { content: 'So.', annotations: [1] }, logprobs: { content: [{ token: 'So.' }] } }),
      chunk({ delta: {}, finish_reason: 'stop' }),
      {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7, cost: 0.1 },
      },
    ];
    const {
      values,
      warnings,
      text: written,
    } = writeStream('openai-chat', readStream('openai-chat', `${text.map(sse).join('')}data: [DONE]\n\n`));
    expect(warnings).toEqual([]);
    expect(written.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(values.every((value) => value.provider === 'p' && value.id === 'c')).toBe(true);
    const choices = values.flatMap((value) => value.choices);
    expect(choices.some(({ delta }) => delta.reasoning === 'Hm.')).toBe(true);
    expect(choices.some(({ delta, logprobs }) => delta.annotations?.[0] === 1 && logprobs?.content[0].token === 'So.')).toBe(
      true,
    );
    expect(values.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5, total_tokens: 7, cost: 0.1 } });
  });

  it('of Gemini keeps signatures with what they stand for, and what grounds an answer', () => {
    const chunk = (parts: object[], more = {}) => ({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
      modelVersion: 'm',
      responseId: 'g',
    });
    const chunks = [
      chunk([{ text: 'Hm.', thought: true }]),
      chunk([{ functionCall: { name: 'a', args: {} }, thoughtSignature: 'sig' }]),
      chunk([{ executableCode: { code: '1' } }], { finishReason: 'STOP', groundingMetadata: { q: [1] } }),
    ];
    // The other way in which this API streams: a list that grows.
    const events = readStream('gemini', `[${chunks.map((value) => JSON.stringify(value)).join('\n,\n')}]`);
    const { values, warnings } = writeStream('gemini', events);
    expect(warnings).toEqual([]);
    const parts = values.flatMap((value) => value.candidates[0].content.parts);
    expect(parts).toEqual([
      { text: 'Hm.', thought: true },
      { functionCall: { id: 'call_x', name: 'a', args: {} }, thoughtSignature: 'sig' },
      { executableCode: { code: '1' } },
      { text: '' },
    ]);
    expect(values.at(-1).candidates[0]).toMatchObject({ finishReason: 'STOP', groundingMetadata: { q: [1] } });
  });
});

describe('a stream in another format', () => {
  const events = eventsOfAnswer({
    id: 'a',
    model: 'm',
    parts: [
      { type: 'text', text: 'I look.', phase: 'commentary' },
      {
        type: 'ran-call',
        id: 'mcp_1',
        server: 'hotcell',
        name: 'weather',
        arguments: { state: 'valid', text: '{}', value: {} },
        output: 'sunny',
      },
      { type: 'native', format: 'elsewhere', value: { type: 'hologram' } },
      { type: 'text', text: 'It is sunny.', phase: 'final_answer' },
    ],
    stop: { kind: 'end' },
  });

  it('shows calls that were run on the way as mcp_call items, in one lifecycle', () => {
    const { values, warnings } = writeStream('openai-responses', events);
    const types = values.map(({ type }) => type);
    expect(types.filter((type) => type === 'response.created' || type === 'response.completed')).toHaveLength(2);
    expect(types).toEqual(
      expect.arrayContaining([
        'response.mcp_call.in_progress',
        'response.mcp_call_arguments.done',
        'response.mcp_call.completed',
      ]),
    );
    expect(values.at(-1).response.output).toMatchObject([
      { type: 'message', phase: 'commentary' },
      { type: 'mcp_call', id: 'mcp_1', server_label: 'hotcell', output: 'sunny', status: 'completed' },
      { type: 'message', phase: 'final_answer' },
    ]);
    expect(warnings.join()).toContain('hologram');
  });

  it.each(['openai-chat', 'anthropic', 'gemini'] as const)('of %s tells what it leaves out', (to) => {
    const { warnings } = writeStream(to, events);
    expect(warnings.join('\n')).toMatch(/run on the way(.|\n)*|hologram/);
    expect(warnings.join('\n')).toContain('hologram');
    expect(warnings.join('\n')).toContain('phase');
  });

  it.each(names)('of %s has what was said, also when a whole answer is streamed', (to) => {
    const { text } = writeStream(to, events);
    expect(
      answerOf(readStream(to, text))
        .parts.flatMap((part) => (part.type === 'text' ? part.text : []))
        .join(' '),
    ).toContain('It is sunny.');
  });

  it.each(['anthropic', 'gemini'] as const)('gives a tool that takes a text its text, from %s', (from) => {
    const tools = [{ name: 'patch', parameters: {}, isFreeText: true }];
    const request: ConversationRequest = {
      model: 'm',
      system: [],
      messages: [],
      tools,
      nativeTools: [],
      sampling: {},
      isStreamed: true,
    };
    const call: Part = {
      type: 'tool-call',
      id: 'c',
      name: 'patch',
      arguments: { state: 'valid', text: '*** "a"\n', value: { input: '*** "a"\n' } },
      isFreeText: true,
    };
    const upstream = writeStream(from, eventsOfAnswer({ id: 'a', model: 'm', parts: [call], stop: { kind: 'tool-calls' } })).text;
    const back = readStream(from, upstream, request);
    expect(answerOf(back).parts).toMatchObject([call]);
    const { values } = writeStream('openai-responses', back, request);
    expect(values.at(-1).response.output).toMatchObject([{ type: 'custom_tool_call', input: '*** "a"\n' }]);
  });
});

describe('the id that a client is told', () => {
  it.each(names)('can be another than that of the answer, in %s', (name) => {
    const answer = { id: 'theirs', model: 'm', parts: [], stop: { kind: 'end' as const } };
    const context = { id: 'resp_ours' };
    const whole = JSON.stringify(wireFormats[name].writeAnswer(answer, context).value);
    const writer = wireFormats[name].createStreamWriter(context);
    const streamed = eventsOfAnswer(answer)
      .map((event) => writer.write(event))
      .join('');
    for (const text of [whole, streamed]) {
      expect(text).toContain('"resp_ours"');
      expect(text).not.toContain('theirs');
    }
  });
});

describe('a stream that fails', () => {
  it.each([
    [
      'openai-chat',
      'data: {"error":{"message":"Slow down.","type":"rate_limit_error","code":"rate_limit_exceeded"}}\n\n',
      'rate-limited',
    ],
    ['openai-responses', sse({ type: 'error', code: 'server_error', message: 'Oops.', param: null }), 'server-error'],
    [
      'openai-responses',
      sse({
        type: 'response.failed',
        response: { id: 'r', status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow.' } },
      }),
      'rate-limited',
    ],
    ['anthropic', sse({ type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } }), 'overloaded'],
    ['gemini', 'data: {"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}}\n\n', 'overloaded'],
    ['anthropic', 'data: {"type": nonsense}\n\n', 'server-error'],
    ['openai-chat', '<html>Bad gateway</html>', 'server-error'],
  ] as const)('in %s is told in every format: %s', (from, text, kind) => {
    const events = readStream(from, text);
    const { failure, stop } = answerOf(events);
    expect([failure?.kind, stop.kind]).toEqual([kind, 'interrupted']);
    expect(writeStream('openai-chat', events).values.at(-1).error.message).toBe(failure?.message);
    expect(writeStream('openai-responses', events).values.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed' },
    });
    expect(writeStream('anthropic', events).values.at(-1)).toMatchObject({ type: 'error', error: { message: failure?.message } });
    expect(writeStream('gemini', events).values.at(-1).error.message).toBe(failure?.message);
  });
});

describe('readFailure and the errors of formats', () => {
  it('turn a limit of one provider into what clients of another expect', () => {
    const headers = new Headers({
      'retry-after': '7',
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '0',
    });
    const failure = readFailure(429, headers, '{"type":"error","error":{"type":"rate_limit_error","message":"Slow."}}');
    expect(failure).toMatchObject({
      kind: 'rate-limited',
      retryAfterMs: 7000,
      message: 'Slow.',
      rateLimits: [{ of: 'requests', limit: 50, remaining: 0 }],
    });
    expect(wireFormats['openai-chat'].writeFailure(failure)).toMatchObject({
      status: 429,
      headers: { 'retry-after': '7', 'x-ratelimit-limit-requests': '50', 'x-ratelimit-remaining-requests': '0' },
      body: { error: { type: 'rate_limit_error', message: 'Slow.' } },
    });
    const { body } = wireFormats.gemini.writeFailure(failure);
    expect(readFailure(429, new Headers(), JSON.stringify(body))).toMatchObject({
      kind: 'rate-limited',
      retryAfterMs: 7000,
    });
  });

  it.each([
    ['x-ratelimit-reset-tokens', '1m30.5s', 90_500],
    ['x-ratelimit-reset-tokens', '250ms', 250],
    ['x-ratelimit-reset-tokens', 'soon', undefined],
  ])('read %s: %s', (header, value, resetAfterMs) => {
    const headers = new Headers({ [header]: value, 'x-ratelimit-limit-tokens': '9' });
    const { rateLimits } = readFailure(429, headers, '');
    expect(rateLimits).toEqual([{ of: 'tokens', limit: 9, ...(resetAfterMs !== undefined && { resetAfterMs }) }]);
  });

  it.each(names)('of %s survive any body', (name) => {
    for (const body of ['', '<html>', 'null', '[]', '{"error":3}', '{"error":"no"}', '{"error":{"message":{}}}']) {
      const failure = readFailure(500, new Headers(), body);
      expect(failure).toMatchObject({ kind: 'server-error', status: 500 });
      expect(wireFormats[name].writeFailure(failure).status).toBe(500);
    }
  });
});
