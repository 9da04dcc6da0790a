import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formats, type GatewayHouse, nameOf, openGateway } from './gateway-house.ts';
import { say, threeRounds, toolPlugins } from './scripted.ts';

let house: GatewayHouse;
let endApproving = (): void => {};
beforeAll(async () => {
  house = await openGateway(toolPlugins);
  // The person: says yes to whatever is asked.
  endApproving = house.parts.events.subscribe({ types: ['approval-request'] }, (event) => {
    const { approval } = event.data as { approval: string };
    const person = { id: 'local', role: 'admin' as const, mayAnswer: true, isPerson: true };
    setImmediate(() => house.parts.approvals.answer(approval, 'approved', person));
  });
});
afterAll(async () => {
  endApproving();
  await house.close();
});

let before = 0;
const ran = (): unknown[] =>
  house.events
    .filter(({ type }) => type === 'execution-start')
    .slice(before)
    .map(({ subject }) => subject);
beforeEach(() => {
  house.provider.forget();
  before = house.events.filter(({ type }) => type === 'execution-start').length;
});
/** All that the last request of the loop told the provider. */
const lastSent = (): string => JSON.stringify(house.provider.seen.at(-1)?.body);

function expectAllRan(): void {
  expect(ran()).toHaveLength(3);
  for (const result of ['sunny in Oslo', 'sunny in Bern', 'wiped C']) expect(lastSent()).toContain(result);
}
const words = (text: string | null | undefined): string => (text ?? '').replaceAll(/\s+/g, ' ').trim();
const allSaid = 'Let me see. Let me see. Let me see.';
let turn = 0;
/** No two requests are the same: what came before is not told again. */
function question(): string {
  turn += 1;
  return `What is the weather? (${turn})`;
}

describe.each(formats)('a conversation of three rounds with a provider of %s', (upstream) => {
  const model = `${nameOf(upstream)}/m-1`;
  const openai = () => new OpenAI({ apiKey: house.token, baseURL: `${house.url}/v1`, maxRetries: 0 });

  it('is one answer to openai: chat.completions.stream() and create()', async () => {
    say(house.provider, upstream, true, threeRounds);
    const stream = openai().chat.completions.stream({ model, messages: [{ role: 'user', content: question() }] });
    const final = await stream.finalChatCompletion();
    expect(words(final.choices[0]?.message.content)).toBe(allSaid);
    expect(final.choices[0]?.finish_reason).toBe('stop');
    expectAllRan();

    say(house.provider, upstream, false, threeRounds);
    const whole = await openai().chat.completions.create({ model, messages: [{ role: 'user', content: question() }] });
    expect(words(whole.choices[0]?.message.content)).toBe(allSaid);
  });

  it('lets runTools() run the tools of the client beside those of the daemon', async () => {
    say(house.provider, upstream, false, [
      [
        { id: 'call_read', name: 'Read', text: '{"path":"a.txt"}' },
        { id: 'call_bern', name: 'weather', text: '{"city":"Bern"}' },
      ],
      [],
    ]);
    const read: string[] = [];
    const runner = openai().chat.completions.runTools({
      model,
      messages: [{ role: 'user', content: question() }],
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
    expect(words(await runner.finalContent())).toBe('Let me see.');
    expect(read).toEqual(['a.txt']);
    expect(ran()).toHaveLength(1);
    expect(lastSent()).toContain('content of a.txt');
    expect(lastSent()).toContain('sunny in Bern');
  });

  it('is one response to openai: responses.stream(), with the calls as mcp_call, and previous_response_id goes on from it', async () => {
    say(house.provider, upstream, true, threeRounds);
    const stream = openai().responses.stream({ model, input: question() });
    const kinds: string[] = [];
    stream.on('event', ({ type }) => void kinds.push(type));
    const final = await stream.finalResponse();
    expect(kinds.filter((kind) => kind === 'response.created' || kind === 'response.completed')).toHaveLength(2);
    expect(final.output.map(({ type }) => type).sort()).toEqual([
      'mcp_call',
      'mcp_call',
      'mcp_call',
      'message',
      'message',
      'message',
    ]);
    const calls = final.output.filter((item) => item.type === 'mcp_call');
    expect(calls.map(({ output }) => output).sort()).toEqual(['sunny in Bern', 'sunny in Oslo', 'wiped C']);
    const phases = final.output.filter((item) => item.type === 'message').map((item) => Object(item).phase ?? 'answer');
    expect(phases).toEqual(['commentary', 'commentary', 'answer']);
    expectAllRan();

    say(house.provider, upstream, false, [[]]);
    const next = await openai().responses.create({ model, input: 'And now?', previous_response_id: final.id });
    expect(next.status).toBe('completed');
    expect(ran()).toHaveLength(3);
    const kept = await openai().responses.retrieve(final.id);
    expect(kept.output.length).toBe(6);
    await openai().responses.delete(final.id);
    await expect(openai().responses.retrieve(final.id)).rejects.toThrow(/no response/);
  });

  it('is one message to @anthropic-ai/sdk: messages.stream() and create()', async () => {
    const anthropic = new Anthropic({ apiKey: house.token, baseURL: house.url, maxRetries: 0 });
    say(house.provider, upstream, true, threeRounds);
    const stream = anthropic.messages.stream({ model, max_tokens: 500, messages: [{ role: 'user', content: question() }] });
    const final = await stream.finalMessage();
    expect(words(final.content.map((block) => (block.type === 'text' ? block.text : '')).join(' '))).toBe(allSaid);
    expect(final.stop_reason).toBe('end_turn');
    expectAllRan();

    say(house.provider, upstream, false, threeRounds);
    const whole = await anthropic.messages.create({ model, max_tokens: 500, messages: [{ role: 'user', content: question() }] });
    expect(whole.content).toHaveLength(3);
  });

  it('is one answer to @google/genai: generateContentStream() and generateContent()', async () => {
    const google = new GoogleGenAI({ apiKey: house.token, httpOptions: { baseUrl: house.url } });
    say(house.provider, upstream, true, threeRounds);
    const chunks = await google.models.generateContentStream({ model, contents: question() });
    let text = '';
    for await (const chunk of chunks) text += ` ${chunk.text ?? ''}`;
    expect(words(text).replaceAll(' ', '')).toBe(allSaid.replaceAll(' ', ''));
    expectAllRan();

    say(house.provider, upstream, false, threeRounds);
    const whole = await google.models.generateContent({ model, contents: question() });
    expect(words(whole.text).replaceAll(' ', '')).toBe(allSaid.replaceAll(' ', ''));
  });

  it('is one text to ai: streamText()', async () => {
    const provider = createOpenAICompatible({ name: 'hotcell', baseURL: `${house.url}/v1`, apiKey: house.token });
    say(house.provider, upstream, true, threeRounds);
    const { text } = streamText({ model: provider(model), prompt: question(), maxRetries: 0 });
    expect(words(await text)).toBe(allSaid);
    expectAllRan();
  });
});
