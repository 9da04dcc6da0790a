import { describe, expect, it } from 'vitest';
import type { Part } from '../../../src/conversation/conversation.ts';
import type { ConversationRequest } from '../../../src/conversation/request.ts';
import { argumentsValue } from '../../../src/conversation/tool-arguments.ts';
import type { WireFormatName } from '../../../src/models/wire/wire-format.ts';
import { wireFormats } from '../../../src/models/wire/wire-formats.ts';
import { findBreaches } from '../../conversation/breaches.ts';
import { requestsOf } from './requests.ts';

const names = Object.keys(wireFormats) as WireFormatName[];
const pairs = names.flatMap((from) => names.map((to) => [from, to] as const));
const address = { model: 'm', isStreamed: true };

const read = (from: WireFormatName, body: unknown) => wireFormats[from].readRequest(body, address);
const write = (to: WireFormatName, request: ConversationRequest) => wireFormats[to].writeRequest(request);

/** Something a request says of a call: what it is given, or that it has a result. */
interface Exchange {
  readonly id: string;
  readonly name?: string;
  readonly given?: unknown;
}

/** The calls and results of a request. Arguments of tools that take a text are an object in other formats. */
function exchangesOf({ messages }: ConversationRequest): Exchange[] {
  return messages
    .flatMap(({ parts }) => parts)
    .flatMap((part): Exchange[] => {
      if (part.type === 'tool-result') return [{ id: part.callId }];
      if (part.type !== 'tool-call') return [];
      return [{ id: part.id, name: part.name, given: argumentsValue(part.arguments) }];
    });
}

describe.each(names)('a request of %s', (name) => {
  it.each(requestsOf[name].map((body) => [body]))('is written as it came, with all that is not known', (body) => {
    const { value, warnings } = write(name, read(name, body));
    expect(value).toEqual(body);
    expect(warnings).toEqual([]);
  });

  it('keeps the rules of a conversation', () => {
    for (const body of requestsOf[name]) expect(findBreaches(read(name, body).messages)).toEqual([]);
  });
});

describe.each(pairs)('a request of %s, written in %s', (from, to) => {
  const [body] = requestsOf[from];
  const request = read(from, body);
  const { value, warnings } = write(to, request);
  const again = wireFormats[to].readRequest(value, address);

  it('has the same calls and results', () => {
    expect(exchangesOf(again)).toEqual(expect.arrayContaining(exchangesOf(request)));
    expect(findBreaches(again.messages)).toEqual([]);
  });

  it('has the same tools, choice and bounds', () => {
    expect(again.tools.map((tool) => tool.name)).toEqual(request.tools.map((tool) => tool.name));
    expect(again.maxTokens).toBe(100);
    expect(again.sampling.temperature).toBe(0.5);
    expect(again.toolChoice).toBeDefined();
    expect(again.responseShape).toMatchObject({ kind: 'json-schema', schema: { type: 'object' } });
  });

  it('tells of everything that it leaves out', () => {
    const written = JSON.stringify(value);
    for (const field of ['brand_new', 'hologram', 'search_result', 'retrieval', 'googleSearch', 'web_search_20250305']) {
      if (!JSON.stringify(body).includes(`"${field}"`) || written.includes(`"${field}"`)) continue;
      expect(warnings.join('\n')).toContain(field);
    }
    expect(warnings.length > 0).toBe(from !== to);
  });

  it('is the same when it is written twice', () => {
    expect(write(to, again).value).toEqual(value);
  });
});

describe('readRequest', () => {
  it('refuses more than one answer at a time, and says where', () => {
    const chat = { model: 'm', messages: [], n: 2 };
    expect(() => read('openai-chat', chat)).toThrow('n: 1 (one answer at a time) was expected, 2 came.');
    expect(() => read('gemini', { contents: [], generationConfig: { candidateCount: 3 } })).toThrow('candidateCount');
  });

  it.each([
    ['openai-chat', { model: 'm', messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    ['openai-chat', { model: 'm', messages: [{ role: 'user', content: 3 }] }, 'messages[0].content'],
    ['openai-responses', { model: 'm', input: [{ type: 'message', role: 'robot' }] }, 'input[0].role'],
    ['anthropic', { model: 'm', messages: [{ role: 'user', content: [3] }] }, 'messages[0].content[0]'],
    ['gemini', { contents: [{ parts: 3 }] }, 'contents[0].parts'],
  ] as const)('of %s says which field is wrong', (name, body, where) => {
    expect(() => read(name, body)).toThrow(where);
  });

  it('gives functions of the time before tools ids', () => {
    const messages = [
      { role: 'assistant', content: null, function_call: { name: 'weather', arguments: '{}' } },
      { role: 'function', name: 'weather', content: 'sunny' },
    ];
    const request = read('openai-chat', {
      model: 'm',
      messages,
      functions: [{ name: 'weather', parameters: {} }],
      function_call: 'auto',
    });
    expect(exchangesOf(request)).toMatchObject([{ id: 'function_0', name: 'weather' }, { id: 'function_0' }]);
    expect(request).toMatchObject({ tools: [{ name: 'weather' }], toolChoice: { kind: 'auto' } });
  });

  it('finds which call a result of Gemini without an id answers', () => {
    const contents = [
      { role: 'model', parts: [{ functionCall: { name: 'a', args: {} } }, { functionCall: { name: 'a', args: { b: 1 } } }] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'a', response: { output: '1' } } },
          { functionResponse: { name: 'a', response: { output: '2' } } },
        ],
      },
    ];
    expect(findBreaches(read('gemini', { contents }).messages)).toEqual([]);
  });
});

describe('writeRequest', () => {
  const plain: ConversationRequest = {
    model: 'm',
    system: [],
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    tools: [{ name: 'skills/weather@1.0.0', parameters: { type: 'object' } }],
    nativeTools: [],
    sampling: {},
    isStreamed: false,
  };

  it.each(names)('of %s has names that the provider takes, which the answer turns back', (name) => {
    const body = JSON.stringify(write(name, plain).value);
    const encoded = 'skills_x2f_weather_x40_1_x2e_0_x2e_0';
    expect(body).toContain(`"${encoded}"`);
    const streamed = wireFormats[name].createStreamWriter().write({ type: 'answer-start', id: 'a', model: 'm' });
    const call: Part = { type: 'tool-call', id: 'c', name: encoded, arguments: { state: 'valid', text: '{}', value: {} } };
    const answer = wireFormats[name].writeAnswer({ id: 'a', model: 'm', parts: [call], stop: { kind: 'tool-calls' } }).value;
    expect(streamed).toBeTypeOf('string');
    expect(wireFormats[name].readAnswer(answer, { request: plain }).parts).toMatchObject([{ name: 'skills/weather@1.0.0' }]);
  });

  it.each(names)('of %s says a call that was run on the way as a call with its result', (name) => {
    const ran: Part = {
      type: 'ran-call',
      id: 'r1',
      server: 'hotcell',
      name: 'time',
      arguments: { state: 'valid', text: '{}', value: {} },
      output: 'noon',
    };
    const messages = [
      ...plain.messages,
      { role: 'assistant' as const, parts: [ran, { type: 'text' as const, text: 'It is noon.' }] },
    ];
    const { value, warnings } = write(name, { ...plain, messages });
    expect(JSON.stringify(value)).toContain('noon');
    expect(warnings.join()).not.toContain('run on the way');
  });

  it('of Anthropic tells that it had to choose a bound', () => {
    const { value, warnings } = write('anthropic', plain);
    expect(value).toMatchObject({ max_tokens: 8192 });
    expect(warnings.join()).toContain('8192');
  });

  it('keeps reasoning to the provider that made it', () => {
    const sealed = { format: 'anthropic', value: 'sig' };
    const messages = [
      { role: 'assistant' as const, parts: [{ type: 'reasoning' as const, text: 'Hm.', sealed }] },
      ...plain.messages,
    ];
    const own = write('anthropic', { ...plain, messages });
    expect(JSON.stringify(own.value)).toContain('"signature":"sig"');
    for (const other of ['openai-responses', 'gemini'] as const) {
      const { value, warnings } = write(other, { ...plain, messages });
      expect(JSON.stringify(value)).not.toContain('sig');
      expect(warnings.join()).toContain('Reasoning that another provider made');
    }
  });

  it('keeps it to that provider also where a client brought it back as an item with an id', () => {
    const sealed = { format: 'anthropic', value: 'sig' };
    const part: Part = { type: 'reasoning', text: 'Hm.', sealed };
    const answer = wireFormats['openai-responses'].writeAnswer({ id: 'a', model: 'm', parts: [part], stop: { kind: 'end' } });
    const parts = [...wireFormats['openai-responses'].readAnswer(answer.value).parts];
    const messages = [{ role: 'assistant' as const, parts }, ...plain.messages];
    const { value, warnings } = write('openai-responses', { ...plain, messages });
    expect(JSON.stringify(value)).not.toContain('hotcell.anthropic');
    expect(warnings.join()).toContain('Reasoning that another provider made');
  });

  it.each([
    ['openai-responses', 'anthropic'],
    ['anthropic', 'gemini'],
    ['gemini', 'openai-responses'],
  ] as const)('gets the seal of %s back through a client of %s', (provider, client) => {
    const sealed = { format: provider, value: 'blob/+=' };
    const part: Part = { type: 'reasoning', text: 'Hm.', sealed };
    const answer = wireFormats[client].writeAnswer({ id: 'a', model: 'm', parts: [part], stop: { kind: 'end' } }).value;
    const back = wireFormats[client].readAnswer(answer).parts[0];
    expect(back).toMatchObject({ type: 'reasoning', text: 'Hm.', sealed });
  });
});
