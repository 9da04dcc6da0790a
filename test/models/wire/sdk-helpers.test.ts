import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../../src/conversation/answer.ts';
import { createAnswerCollector } from '../../../src/conversation/collect-answer.ts';
import type { WireFormatName } from '../../../src/models/wire/wire-format.ts';
import { wireFormats } from '../../../src/models/wire/wire-formats.ts';
import { callsOf, type Shape, streams } from './upstreams.ts';

const names = Object.keys(wireFormats) as WireFormatName[];

/** What the server answers: the stream of this upstream. Requests that carry a result get a text. */
let upstream: WireFormatName = 'openai-chat';
let shape: Shape = 'fragments';

function eventsOf(text: string): StreamEvent[] {
  const reader = wireFormats[upstream].createStreamReader();
  return [...reader.push(text), ...reader.end()];
}

const farewell: StreamEvent[] = [
  { type: 'answer-start', id: 'a2', model: 'm' },
  { type: 'part-start', index: 0, part: { type: 'text', text: '' } },
  { type: 'part-delta', index: 0, text: 'It is sunny.', channel: 'text' },
  { type: 'part-end', index: 0, part: { type: 'text', text: 'It is sunny.' } },
  { type: 'answer-end', stop: { kind: 'end' }, usage: { inputTokens: 5, outputTokens: 4 } },
];

function formatOf(path: string): WireFormatName {
  if (path.includes('chat/completions')) return 'openai-chat';
  if (path.includes('responses')) return 'openai-responses';
  return path.includes('messages') ? 'anthropic' : 'gemini';
}

/** A server of all formats that turns what an upstream streams into what the client speaks. */
const server = createServer(async (incoming, response) => {
  let body = '';
  for await (const piece of incoming) body += piece;
  const path = incoming.url ?? '';
  const format = wireFormats[formatOf(path)];
  const address = { model: 'm', isStreamed: path.includes('streamGenerateContent') };
  const request = format.readRequest(JSON.parse(body), address);
  if (request.model === 'limited') {
    const failure = { kind: 'rate-limited' as const, status: 429, message: 'Slow down.', retryAfterMs: 2000 };
    const written = format.writeFailure(failure);
    return void response.writeHead(written.status, written.headers).end(JSON.stringify(written.body));
  }
  const hasResult = request.messages.some(({ role }) => role === 'tool');
  const events = hasResult ? farewell : eventsOf(streams[upstream](shape));
  if (!request.isStreamed) {
    const collector = createAnswerCollector();
    events.forEach(collector.push);
    const { value } = format.writeAnswer(collector.answer(), { request });
    return void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  }
  response.setHeader('content-type', 'text/event-stream');
  const writer = format.createStreamWriter({ request });
  for (const event of events) response.write(writer.write(event));
  response.end();
});

let baseURL = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  baseURL = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } };
const expected = () => callsOf(shape).map(({ name, text }) => ({ name, given: text === '' ? {} : JSON.parse(text) }));
const sound: readonly Shape[] = ['fragments', 'final event only', 'whole', 'empty', 'two interleaved'];
const cases = names.flatMap((from) => sound.map((one) => [from, one] as const));

describe('openai', () => {
  const client = () => new OpenAI({ apiKey: 'k', baseURL: `${baseURL}/v1`, maxRetries: 0 });
  const tools = ['weather', 'time'].map((name) => ({ type: 'function' as const, function: { name, parameters } }));
  const messages = [{ role: 'user' as const, content: 'Weather?' }];

  it.each(cases)('chat.completions.stream() assembles what %s streamed: %s', async (from, one) => {
    [upstream, shape] = [from, one];
    const stream = client().chat.completions.stream({ model: 'm', messages, tools });
    const [choice] = (await stream.finalChatCompletion()).choices;
    expect(choice?.message.content).toBe('Let me see.');
    expect(choice?.finish_reason).toBe('tool_calls');
    const calls = choice?.message.tool_calls ?? [];
    expect(
      calls.map((call) => call.type === 'function' && { name: call.function.name, given: JSON.parse(call.function.arguments) }),
    ).toEqual(expected());
  });

  it.each([true, false])('chat.completions.runTools runs the calls and goes on (streamed: %s)', async (stream) => {
    [upstream, shape] = ['anthropic', 'two interleaved'];
    const seen: unknown[] = [];
    const run = (given: unknown) => {
      seen.push(given);
      return 'sunny';
    };
    const declared = tools.map((tool) => ({
      ...tool,
      function: { ...tool.function, function: run, parse: JSON.parse, description: '' },
    }));
    const runner = stream
      ? client().chat.completions.runTools({ model: 'm', messages, tools: declared, stream: true })
      : client().chat.completions.runTools({ model: 'm', messages, tools: declared });
    expect(await runner.finalContent()).toBe('It is sunny.');
    expect(seen).toEqual(expected().map(({ given }) => given));
  });

  it.each(cases)('responses.stream() assembles what %s streamed: %s', async (from, one) => {
    [upstream, shape] = [from, one];
    const declared = tools.map(({ function: { name } }) => ({ type: 'function' as const, name, parameters, strict: false }));
    const stream = client().responses.stream({ model: 'm', input: 'Weather?', tools: declared });
    const deltas: string[] = [];
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const response = await stream.finalResponse();
    expect(response.status).toBe('completed');
    expect([response.output_text, deltas.join('')]).toEqual(['Let me see.', 'Let me see.']);
    const calls = response.output.filter((item) => item.type === 'function_call');
    expect(calls.map(({ name, arguments: given }) => ({ name, given: JSON.parse(given) }))).toEqual(expected());
  });

  it('tells of a limit with the time to wait', async () => {
    const failure = await client()
      .chat.completions.create({ model: 'limited', messages })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure instanceof OpenAI.RateLimitError && failure.headers?.get('retry-after')).toBe('2');
  });
});

describe('@anthropic-ai/sdk', () => {
  const client = () => new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Weather?' }];
  const tools = ['weather', 'time'].map((name) => ({ name, input_schema: parameters }));

  it.each(cases)('messages.stream() assembles what %s streamed: %s', async (from, one) => {
    [upstream, shape] = [from, one];
    const message = await client().messages.stream({ model: 'm', max_tokens: 99, messages, tools }).finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    const [text, ...calls] = message.content;
    expect(text).toMatchObject({ type: 'text', text: 'Let me see.' });
    expect(calls.map((call) => call.type === 'tool_use' && { name: call.name, given: call.input })).toEqual(expected());
  });

  it('tells of a limit', async () => {
    const asked = client().messages.create({ model: 'limited', max_tokens: 9, messages });
    await expect(asked).rejects.toBeInstanceOf(Anthropic.RateLimitError);
  });
});

describe('@google/genai', () => {
  const client = () => new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: baseURL } });
  const config = {
    tools: [{ functionDeclarations: ['weather', 'time'].map((name) => ({ name, parametersJsonSchema: parameters })) }],
  };

  it.each(cases)('generateContentStream reads what %s streamed: %s', async (from, one) => {
    [upstream, shape] = [from, one];
    const calls: { name: string | undefined; given: unknown }[] = [];
    let text = '';
    let last: unknown;
    for await (const chunk of await client().models.generateContentStream({ model: 'm', contents: 'Weather?', config })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        text += part.text ?? '';
        if (part.functionCall !== undefined) calls.push({ name: part.functionCall.name, given: part.functionCall.args });
      }
      last = chunk.candidates?.[0]?.finishReason;
    }
    expect([text, last]).toEqual(['Let me see.', 'STOP']);
    expect(calls).toEqual(expected());
  });

  it('generateContent reads a whole answer', async () => {
    [upstream, shape] = ['openai-responses', 'whole'];
    const { functionCalls } = await client().models.generateContent({ model: 'm', contents: 'Weather?', config });
    expect(functionCalls?.map(({ name, args: given }) => ({ name, given }))).toEqual(expected());
  });
});
