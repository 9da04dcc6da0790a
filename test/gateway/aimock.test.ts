import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { type ChaosConfig, LLMock } from '@copilotkit/aimock';
import { GoogleGenAI } from '@google/genai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFormatName } from '../../src/models/wire/wire-format.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { formats, nameOf } from './gateway-house.ts';
import { toolPlugins } from './scripted.ts';

const mock = new LLMock({ port: 0 });
let small: Awaited<ReturnType<typeof startSmallDaemon>>;
let endApproving = (): void => {};
const paths: Record<WireFormatName, string> = {
  'openai-chat': '/v1',
  'openai-responses': '/v1',
  anthropic: '',
  gemini: '/v1beta',
};

const has = (words: string) => ({
  predicate: ({ messages }: { messages: readonly unknown[] }) => JSON.stringify(messages).includes(words),
});
const final = 'It is sunny in both, and the disk is empty.';
const callWeather = (city: string) => ({ name: 'weather', arguments: { city } });

beforeAll(async () => {
  // What was said so far decides: two calls side by side, one that a person approves, the answer.
  mock.on(has('content of a.txt'), { content: 'The file says so.' });
  mock.on(has('read the file'), { toolCalls: [{ name: 'Read', arguments: { path: 'a.txt' } }, callWeather('Bern')] });
  mock.on(has('break off'), { content: 'This is the beginning of a long answer.' }, { truncateAfterChunks: 3, chunkSize: 4 });
  mock.on(has('fall silent'), { content: 'This is the beginning of a long answer.' }, { latency: 20_000, chunkSize: 4 });
  mock.on(has('wiped C'), { content: final });
  mock.on(has('sunny in Bern'), { toolCalls: [{ name: 'wipe', arguments: { disk: 'C' } }] });
  mock.on({}, { toolCalls: [callWeather('Oslo'), callWeather('Bern')] });
  const url = await mock.start();
  const providers = Object.fromEntries(
    formats.flatMap((format) => {
      const provider = { baseUrl: `${url}${paths[format]}`, format, model: 'gpt-4o', key: 'KEY', maxRetries: 0 };
      return [
        [nameOf(format), provider],
        [`hasty-${nameOf(format)}`, { ...provider, timeoutMs: 300 }],
      ];
    }),
  );
  small = await startSmallDaemon(toolPlugins, { env: { KEY: 'k' }, models: { providers } }, { listen: true });
  endApproving = small.parts.events.subscribe({ types: ['approval-request'] }, (event) => {
    if (event.type !== 'approval-request') return;
    const { approval } = event.data;
    const person = { id: 'local', role: 'admin' as const, mayAnswer: true, isPerson: true };
    setImmediate(() => small.parts.approvals.answer(approval, 'approved', person));
  });
});
afterAll(async () => {
  endApproving();
  await small.close();
  await mock.stop();
});

const openai = () => new OpenAI({ apiKey: small.daemon.token, baseURL: `${small.daemon.url}/v1`, maxRetries: 0 });
const anthropic = () => new Anthropic({ apiKey: small.daemon.token, baseURL: small.daemon.url ?? '', maxRetries: 0 });
const google = () => new GoogleGenAI({ apiKey: small.daemon.token, httpOptions: { baseUrl: small.daemon.url ?? '' } });
const vercel = (model: string) =>
  createOpenAICompatible({ name: 'hotcell', baseURL: `${small.daemon.url}/v1`, apiKey: small.daemon.token })(model);
const textOf = (message: Anthropic.Message) =>
  message.content.map((block) => (block.type === 'text' ? block.text : '')).join(' ');

/** The helpers of the four kits, each from a question to the text of the answer; they reject as their users see it. */
const helpers: Record<string, (model: string, prompt: string) => Promise<string | null | undefined>> = {
  async 'chat.completions.stream()'(model, content) {
    const stream = openai().chat.completions.stream({ model, messages: [{ role: 'user', content }] });
    return (await stream.finalChatCompletion()).choices[0]?.message.content;
  },
  async 'chat.completions.create()'(model, content) {
    return (await openai().chat.completions.create({ model, messages: [{ role: 'user', content }] })).choices[0]?.message.content;
  },
  async 'responses.stream().finalResponse()'(model, input) {
    const response = await openai().responses.stream({ model, input }).finalResponse();
    return response.output_text;
  },
  async 'responses.create()'(model, input) {
    return (await openai().responses.create({ model, input })).output_text;
  },
  async 'messages.stream().finalMessage()'(model, content) {
    return textOf(
      await anthropic()
        .messages.stream({ model, max_tokens: 500, messages: [{ role: 'user', content }] })
        .finalMessage(),
    );
  },
  async 'messages.create()'(model, content) {
    return textOf(await anthropic().messages.create({ model, max_tokens: 500, messages: [{ role: 'user', content }] }));
  },
  async 'generateContentStream()'(model, contents) {
    let text = '';
    for await (const chunk of await google().models.generateContentStream({ model, contents })) text += chunk.text ?? '';
    return text;
  },
  async 'generateContent()'(model, contents) {
    return (await google().models.generateContent({ model, contents })).text;
  },
  async 'streamText()'(model, prompt) {
    let failed: unknown;
    const { text } = streamText({
      model: vercel(model),
      prompt,
      maxRetries: 0,
      onError: ({ error }) => {
        failed = error;
      },
    });
    return text.then(
      (whole) => whole,
      (error: unknown) => Promise.reject(failed ?? error),
    );
  },
  async 'generateText()'(model, prompt) {
    return (await generateText({ model: vercel(model), prompt, maxRetries: 0 })).text;
  },
};
const names = Object.keys(helpers);
let turn = 0;
/** No two requests are the same: what came before is not told again. */
function anew(words: string): string {
  turn += 1;
  return `${words} (${turn})`;
}
const ask = (helper: string, model: string, words = 'Weather, and wipe?') => helpers[helper]?.(model, anew(words));
const runs = () => small.events.filter(({ type }) => type === 'execution-start').length;

describe.each(formats)('a mock of a provider with %s', (format) => {
  const model = `${nameOf(format)}/gpt-4o`;

  it.each(names)('has two calls run side by side and one that a person approves, in three rounds: %s', async (helper) => {
    const before = runs();
    expect((await ask(helper, model))?.trim()).toBe(final);
    expect(runs() - before).toBe(3);
    const sent = JSON.stringify(mock.getLastRequest()?.body);
    for (const result of ['sunny in Oslo', 'sunny in Bern', 'wiped C']) expect(sent).toContain(result);
  });

  it('lets runTools() run the tool of the client beside that of the daemon', async () => {
    const before = runs();
    const read: string[] = [];
    const runner = openai().chat.completions.runTools({
      model,
      messages: [{ role: 'user', content: anew('Please read the file') }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'Read',
            description: 'Reads a file.',
            parameters: { type: 'object', properties: { path: { type: 'string' } } },
            parse: JSON.parse,
            function: ({ path }: { path: string }) => {
              read.push(path);
              return `content of ${path}`;
            },
          },
        },
      ],
    });
    expect((await runner.finalContent())?.trim()).toBe('The file says so.');
    expect([read, runs() - before]).toEqual([['a.txt'], 1]);
  });

  const faults: ReadonlyArray<readonly [string, ChaosConfig, string]> = [
    ['limits its rate', { rateLimitRate: 1 }, '429'],
    ['fails', { dropRate: 1 }, '500'],
    ['disconnects', { disconnectRate: 1 }, '502'],
    ['sends what is malformed', { malformedRate: 1 }, '502'],
  ];
  it.each(faults)('that %s is an error of each kit, and nothing is run', async (_name, chaos, status) => {
    const before = runs();
    mock.setChaos(chaos);
    try {
      for (const helper of names) {
        const error: unknown = await ask(helper, model)?.then(
          (text) => `${helper} answered: ${text}`,
          (thrown: unknown) => thrown,
        );
        expect([helper, error]).toEqual([helper, expect.any(Error)]);
        const { status: code, statusCode = code } = Object(error);
        expect([helper, String(statusCode), String(error)]).toEqual([helper, status, expect.stringMatching(/./)]);
        const { headers, responseHeaders = headers } = Object(error);
        const wait = responseHeaders instanceof Headers ? responseHeaders.get('retry-after') : responseHeaders?.['retry-after'];
        if (status === '429' && responseHeaders !== undefined) expect([helper, Number(wait) > 0]).toEqual([helper, true]);
      }
    } finally {
      mock.clearChaos();
    }
    expect(runs()).toBe(before);
  });

  it.each([
    ['breaks off in the middle', '', 'break off', /broke off|closed the connection/],
    ['falls silent in the middle', 'hasty-', 'fall silent', /said nothing for 300 ms/],
  ])('that %s is an error of each kit, never half an answer', async (_name, prefix, words, told) => {
    const streams = names.filter((name) => name.includes('tream'));
    const thrown = await Promise.all(
      streams.map(async (helper) => {
        const error: unknown = await ask(helper, `${prefix}${model}`, `Please ${words}`)?.then(
          (text) => `answered: ${text}`,
          (reason: unknown) => reason,
        );
        return [helper, typeof error === 'string' ? error : JSON.stringify(error) + String(error)];
      }),
    );
    expect(thrown).toEqual(streams.map((helper) => [helper, expect.stringMatching(told)]));
  });
});
