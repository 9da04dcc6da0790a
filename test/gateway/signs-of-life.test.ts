import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../src/conversation/answer.ts';
import { replyAnswer } from '../../src/gateway/answer-client.ts';
import { wireFormats } from '../../src/models/wire/wire-formats.ts';
import { formats } from './gateway-house.ts';

/** A text, of which the second half comes when the client has had `pings` signs of life: as when a tool runs long, or a person is asked. */
function slowly(pings: number) {
  let heard = 0;
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  async function* events(): AsyncGenerator<StreamEvent> {
    yield { type: 'answer-start', id: 'a1', model: 'm' };
    yield { type: 'part-start', index: 0, part: { type: 'text', text: '' } };
    yield { type: 'part-delta', index: 0, text: 'Let me ', channel: 'text' };
    await enough;
    yield { type: 'part-delta', index: 0, text: 'see.', channel: 'text' };
    yield { type: 'part-end', index: 0, part: { type: 'text', text: 'Let me see.' } };
    yield { type: 'answer-end', stop: { kind: 'end' }, usage: { inputTokens: 1, outputTokens: 2 } };
  }
  const hear = (text: string, ping: string): void => {
    if (text === ping) heard += 1;
    if (heard === pings) resolve();
  };
  return { events: events(), hear };
}

const server = createServer(async (request, response) => {
  request.resume();
  const path = request.url ?? '';
  const name = formats.find((each) => path.startsWith(`/${each}/`)) ?? 'openai-chat';
  const format = wireFormats[name];
  const { events, hear } = slowly(3);
  const told = { events, about: undefined, headers: {}, isStreamed: true, context: {}, pingMs: 1 };
  const { body, headers } = await replyAnswer(format, told);
  response.writeHead(200, headers);
  if (typeof body === 'string') return void response.end(body);
  for await (const chunk of body) {
    response.write(chunk);
    hear(String(chunk), format.ping);
  }
  response.end();
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterAll(() => server.close());

describe('an answer that takes its time', () => {
  const messages = [{ role: 'user' as const, content: 'Hi' }];

  it('gives signs of life that openai passes over', async () => {
    const chat = new OpenAI({ apiKey: 'k', baseURL: `${url}/openai-chat` });
    const stream = chat.chat.completions.stream({ model: 'm', messages });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe('Let me see.');
    const responses = new OpenAI({ apiKey: 'k', baseURL: `${url}/openai-responses` });
    expect((await responses.responses.stream({ model: 'm', input: 'Hi' }).finalResponse()).output_text).toBe('Let me see.');
  });

  it('gives signs of life that @anthropic-ai/sdk passes over', async () => {
    const client = new Anthropic({ apiKey: 'k', baseURL: `${url}/anthropic` });
    const final = await client.messages.stream({ model: 'm', max_tokens: 9, messages }).finalMessage();
    expect(final.content).toMatchObject([{ type: 'text', text: 'Let me see.' }]);
  });

  it('gives signs of life that @google/genai passes over', async () => {
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: `${url}/gemini` } });
    let text = '';
    for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'Hi' })) text += chunk.text ?? '';
    expect(text).toBe('Let me see.');
  });
});
