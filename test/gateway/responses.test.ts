import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { WireFormatName } from '../../src/models/wire/wire-format.ts';
import { formats, type GatewayHouse, nameOf, openGateway } from './gateway-house.ts';
import { sendJson, sendStream } from './provider-server.ts';
import { call, say } from './scripted.ts';

// What the compliance tests of Open Responses ask for, against providers of each format.

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGateway();
});
afterAll(() => house.close());
beforeEach(() => house.provider.forget());

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const getWeather = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};
const heart =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
const calls = [call('call_1', 'get_weather', { location: 'San Francisco, CA' })];

/** The fields that a response has to have, and of which type. */
const required: Record<string, string> = {
  id: 'string',
  object: 'string',
  created_at: 'number',
  status: 'string',
  model: 'string',
  output: 'object',
  tools: 'object',
  tool_choice: 'string',
  truncation: 'string',
  parallel_tool_calls: 'boolean',
  text: 'object',
  top_p: 'number',
  temperature: 'number',
  presence_penalty: 'number',
  frequency_penalty: 'number',
  top_logprobs: 'number',
  store: 'boolean',
  background: 'boolean',
  service_tier: 'string',
  metadata: 'object',
};

// biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked into as a client would
function expectResource(response: any, status = 'completed'): any {
  for (const [field, type] of Object.entries(required)) expect([field, typeof response[field]]).toEqual([field, type]);
  for (const field of [
    'completed_at',
    'incomplete_details',
    'previous_response_id',
    'instructions',
    'error',
    'usage',
    'max_output_tokens',
    'reasoning',
  ])
    expect(Object.keys(response)).toContain(field);
  expect(response).toMatchObject({ object: 'response', status });
  expect(response.output.length).toBeGreaterThan(0);
  for (const item of response.output) expect(typeof item.id).toBe('string');
  return response;
}

// biome-ignore lint/suspicious/noExplicitAny: see above
type Event = any;

function expectLifecycle(events: readonly Event[]): Event {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_event, position) => position));
  expect(events[0].type).toBe('response.created');
  expect(events.at(-1).type).toBe('response.completed');
  expect(events.filter(({ type }) => type === 'response.completed')).toHaveLength(1);
  return expectResource(events.at(-1).response);
}

const eventsOf = (text: string): Event[] => [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));

/** One turn over a connection that is open. */
async function turn(socket: WebSocket, body: object): Promise<Event[]> {
  const events: Event[] = [];
  const { promise, resolve } = Promise.withResolvers<Event[]>();
  const hear = (data: unknown): void => {
    const event = JSON.parse(String(data));
    events.push(event);
    if (/^(error|response\.(completed|failed|incomplete))$/.test(event.type)) resolve(events);
  };
  socket.on('message', hear);
  socket.send(JSON.stringify({ type: 'response.create', ...body }));
  return promise.finally(() => socket.off('message', hear));
}
async function connect(key: string = house.token): Promise<WebSocket> {
  const socket = new WebSocket(`${house.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await once(socket, 'open');
  return socket;
}

const cases = [
  { name: 'basic response', input: [user('Say hello in exactly 3 words.')] },
  { name: 'system prompt', input: [{ type: 'message', role: 'system', content: 'You are a pirate.' }, user('Say hello.')] },
  { name: 'tool calling', input: [user("What's the weather like in San Francisco?")], tools: [getWeather] },
  {
    name: 'image input',
    input: [
      user([
        { type: 'input_text', text: 'What do you see?' },
        { type: 'input_image', image_url: heart },
      ]),
    ],
  },
  {
    name: 'multi-turn',
    input: [user('My name is Alice.'), { type: 'message', role: 'assistant', content: 'Hello Alice!' }, user('What is my name?')],
  },
];

describe.each(formats)('POST /v1/responses with a provider of %s', (upstream: WireFormatName) => {
  const model = `${nameOf(upstream)}/m-1`;
  const script = (isStreamed: boolean, tools: unknown) =>
    say(house.provider, upstream, isStreamed, [tools === undefined ? [] : calls]);

  it.each(cases)('answers: $name', async ({ input, tools }) => {
    script(false, tools);
    const response = await house.post('/v1/responses', { model, input, ...(tools && { tools }) });
    const resource = expectResource(await response.json());
    if (tools) expect(resource.output.at(-1)).toMatchObject({ type: 'function_call', name: 'get_weather', call_id: 'call_1' });
    else
      expect(resource.output.at(-1)).toMatchObject({ type: 'message', content: [{ type: 'output_text', text: 'Let me see.' }] });
  });

  it.each(cases)('streams: $name', async ({ input, tools }) => {
    script(true, tools);
    const response = await house.post('/v1/responses', { model, input, stream: true, ...(tools && { tools }) });
    const events = eventsOf(await response.text());
    expectLifecycle(events);
    if (tools === undefined) return;
    const types = events.map(({ type }) => type);
    expect(types).toContain('response.function_call_arguments.delta');
    expect(types).toContain('response.function_call_arguments.done');
    for (const kind of ['response.output_item.added', 'response.output_item.done'])
      expect(events.some(({ type, item }) => type === kind && item.type === 'function_call')).toBe(true);
  });

  it.each(cases)('answers over a WebSocket: $name', async ({ input, tools }) => {
    const socket = await connect();
    script(true, tools);
    expectLifecycle(await turn(socket, { model, input, ...(tools && { tools }) }));
    socket.close();
  });

  it('goes on from a response, over HTTP and over a WebSocket; what is not stored only on its own connection', async () => {
    say(house.provider, upstream, false, [[], []]);
    const first = await (await house.post('/v1/responses', { model, input: 'My name is Alice.' })).json();
    const second = await (
      await house.post('/v1/responses', { model, input: 'And?', previous_response_id: Object(first).id })
    ).json();
    expectResource(second);
    expect(JSON.stringify(house.provider.seen.at(-1)?.body)).toContain('Alice');

    const socket = await connect();
    say(house.provider, upstream, true, [[], [], []]);
    const third = expectLifecycle(await turn(socket, { model, input: 'Go on', previous_response_id: Object(second).id }));
    expect(JSON.stringify(house.provider.seen.at(-1)?.body)).toContain('Alice');
    const local = expectLifecycle(await turn(socket, { model, input: 'Quietly', store: false, previous_response_id: third.id }));
    expectLifecycle(await turn(socket, { model, input: 'More', store: false, previous_response_id: local.id }));
    expect(JSON.stringify(house.provider.seen.at(-1)?.body)).toContain('Quietly');
    const elsewhere = await connect();
    const [refusal] = await turn(elsewhere, { model, input: 'More', previous_response_id: local.id });
    expect(refusal).toMatchObject({ type: 'error', status: 404, error: { code: 'previous_response_not_found' } });
    socket.close();
    elsewhere.close();
  });

  it('makes a conversation shorter, and goes on from what is left of it', async () => {
    say(house.provider, upstream, false, [[], []]);
    const response = await house.post('/v1/responses/compact', { model, input: [user('My name is Alice.')] });
    const compacted = Object(await response.json());
    expect(compacted.object).toBe('response.compaction');
    expect(compacted.output.map(({ type }: Event) => type)).toEqual(['message', 'compaction']);
    expectResource(await (await house.post('/v1/responses', { model, input: [...compacted.output, user('And?')] })).json());
    const sent = JSON.stringify(house.provider.seen.at(-1)?.body);
    expect(sent).toContain('Alice');
    expect(sent).toContain('Let me see.');
    expect(sent).not.toContain('compaction');
  });
});

describe('WS /v1/responses', () => {
  it('tells what is wrong with a message, and goes on', async () => {
    const socket = await connect();
    const { promise, resolve } = Promise.withResolvers<Event>();
    socket.once('message', (data) => resolve(JSON.parse(String(data))));
    socket.send('nonsense');
    expect(await promise).toMatchObject({ type: 'error', error: { code: 'invalid_request' } });
    const [refused] = await turn(socket, { model: 'nobody/m', input: 'Hi' });
    expect(refused).toMatchObject({ type: 'error', status: 404 });
    house.provider.next((_request, response) => sendJson(response, { error: { message: 'Slow down.' } }, 429));
    expect((await turn(socket, { model: 'chat/m-1', input: 'Hi' }))[0]).toMatchObject({ type: 'error', status: 429 });
    house.provider.next((_request, response) => sendStream(response, 'data: nonsense\n\n'));
    expect((await turn(socket, { model: 'chat/m-1', input: 'Hi' })).at(-1).type).toBe('response.failed');
    socket.close();
  });

  it('answers two requests that come at once one after the other, each with a lifecycle of its own', async () => {
    const socket = await connect();
    const events: Event[] = [];
    const { promise: both, resolve } = Promise.withResolvers<void>();
    socket.on('message', (data) => {
      events.push(JSON.parse(String(data)));
      if (events.filter(({ type }) => type === 'response.completed').length === 2) resolve();
    });
    say(house.provider, 'openai-chat', true, [[], []]);
    for (const input of ['First', 'Second']) socket.send(JSON.stringify({ type: 'response.create', model: 'chat/m-1', input }));
    await both;
    const end = events.findIndex(({ type }) => type === 'response.completed') + 1;
    const [first, second] = [expectLifecycle(events.slice(0, end)), expectLifecycle(events.slice(end))];
    expect(first.id).not.toBe(second.id);
    const sent = house.provider.seen.slice(-2).map(({ body }) => JSON.stringify(body.messages));
    expect(sent).toEqual([expect.stringContaining('First'), expect.stringContaining('Second')]);
    // Neither went on from the other.
    expect(sent[1]).not.toContain('First');
    socket.close();
  });

  it('goes on from no response of another key', async () => {
    const [alice, bob] = ['alice', 'bob'].map((name) => house.parts.keys.create({ name, role: 'caller' }).key);
    say(house.provider, 'openai-chat', true, [[]]);
    const own = await connect(alice);
    const made = expectLifecycle(await turn(own, { model: 'chat/m-1', input: 'My secret.' }));
    const other = await connect(bob);
    const before = house.provider.seen.length;
    for (const previous_response_id of [made.id, 'resp_00000000000000000000000000000000']) {
      const [refused] = await turn(other, { model: 'chat/m-1', input: 'And?', previous_response_id });
      expect(refused).toMatchObject({ type: 'error', status: 404, error: { code: 'previous_response_not_found' } });
    }
    expect(house.provider.seen).toHaveLength(before);
    own.close();
    other.close();
  });
});
