import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFormatName } from '../../src/models/wire/wire-format.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { formats, nameOf } from './gateway-house.ts';
import { toolPlugins } from './scripted.ts';

const mock = new LLMock({ port: 0 });
let small: Awaited<ReturnType<typeof startSmallDaemon>>;
const paths: Record<WireFormatName, string> = {
  'openai-chat': '/v1',
  'openai-responses': '/v1',
  anthropic: '',
  gemini: '/v1beta',
};

beforeAll(async () => {
  // What was said last decides: a result ends the conversation, anything else calls the tool.
  mock.on({ predicate: ({ messages }) => messages.some(({ role }) => role === 'tool') }, { content: 'It is sunny in Oslo.' });
  mock.on({}, { toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] });
  const url = await mock.start();
  const providers = Object.fromEntries(
    formats.map((format) => [
      nameOf(format),
      { baseUrl: `${url}${paths[format]}`, format, model: 'gpt-4o', key: 'KEY', maxRetries: 0 },
    ]),
  );
  small = await startSmallDaemon(toolPlugins, { env: { KEY: 'k' }, models: { providers } }, { listen: true });
});
afterAll(async () => {
  await small.close();
  await mock.stop();
});

describe.each(formats)('a mock of a provider with %s', (format) => {
  it.each([true, false])('has its call run, and says the answer: streamed %s', async (isStreamed) => {
    const client = new OpenAI({ apiKey: small.daemon.token, baseURL: `${small.daemon.url}/v1`, maxRetries: 0 });
    const asked = { model: `${nameOf(format)}/gpt-4o`, messages: [{ role: 'user' as const, content: `Weather? ${isStreamed}` }] };
    const final = isStreamed
      ? await client.chat.completions.stream(asked).finalChatCompletion()
      : await client.chat.completions.create(asked);
    expect(final.choices[0]?.message.content?.trim()).toBe('It is sunny in Oslo.');
    expect(final.choices[0]?.finish_reason).toBe('stop');
  });
});
