import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { streams } from '../models/wire/upstreams.ts';
import { formats, type GatewayHouse, nameOf, openGateway, requestOf } from './gateway-house.ts';
import { sendJson, sendStream } from './provider-server.ts';

let house: GatewayHouse;
beforeAll(async () => {
  house = await openGateway({}, {}, (url) => ({
    providers: {
      slow: { baseUrl: `${url}/v1`, model: 'm-1', timeoutMs: 150, maxRetries: 0 },
      patient: { baseUrl: `${url}/v1`, model: 'm-1', maxRetries: 1 },
      gone: { baseUrl: 'http://127.0.0.1:9', model: 'm-1', maxRetries: 0 },
    },
    aliases: { spare: ['gone/m-1', 'chat/m-1'] },
  }));
});
afterAll(() => house.close());
beforeEach(() => house.provider.forget());

const pairs = formats.flatMap((client) => formats.map((upstream) => ({ client, upstream })));

describe.each(pairs)('a client of $client with a provider of $upstream', ({ client, upstream }) => {
  const ask = (isStreamed: boolean) => {
    const { path, body } = requestOf(client, `${nameOf(upstream)}/m-1`, isStreamed);
    return house.post(path, body);
  };
  const errorOf = async (response: Response) => {
    const body = Object(await response.json());
    return typeof body.error?.message === 'string' ? body.error.message : JSON.stringify(body);
  };

  it('hears when it may come again', async () => {
    const headers = { 'retry-after': '7', 'x-ratelimit-remaining-requests': '0' };
    house.provider.next((_request, response) => sendJson(response, { error: { message: 'Slow down.' } }, 429, headers));
    const response = await ask(true);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    const limit = client === 'anthropic' ? 'anthropic-ratelimit-requests-remaining' : 'x-ratelimit-remaining-requests';
    if (client !== 'gemini') expect(response.headers.get(limit)).toBe('0');
    expect(await errorOf(response)).toContain('Slow down.');
  });

  it('hears of a server that fails, of one that speaks otherwise, and of one that is not there', async () => {
    house.provider.next((_request, response) => sendJson(response, { error: { message: 'Broken.' } }, 500));
    const failed = await ask(false);
    expect(failed.status).toBe(500);
    expect(await errorOf(failed)).toContain('Broken.');
    house.provider.next((_request, response) => response.socket?.destroy());
    const gone = await ask(false);
    expect(gone.status).toBe(502);
    expect(await errorOf(gone)).toContain('closed the connection before it answered');
  });

  it.skipIf(client === upstream)('hears that an answer is none of its format, in one piece and as a stream', async () => {
    for (const isStreamed of [false, true]) {
      house.provider.next((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Log in</p>'));
      expect(await (await ask(isStreamed)).text()).toMatch(/The provider .+ answered, but not in the wire format/);
    }
  });

  it('gets what came of a stream that breaks off, and an error instead of an end', async () => {
    const text = streams[upstream](upstream === 'gemini' ? 'whole' : 'fragments');
    // With its connection, and as if it were over: half of what a model says is no answer.
    for (const end of ['destroy', 'end'] as const) {
      house.provider.next((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(text.slice(0, text.indexOf('Let me ') + 200), () => response[end]());
      });
      const told = await (await ask(true)).text();
      expect(told).toContain('Let me ');
      expect(told).toContain('broke off in the middle of its answer');
      expect(told.slice(told.indexOf('Let me '))).not.toMatch(
        /"finish_reason":"|message_stop|response\.completed|"finishReason"/,
      );
    }
  });

  it.skipIf(client === upstream && client !== 'openai-responses')('gets an error for nonsense in a stream', async () => {
    const text = streams[upstream](upstream === 'gemini' ? 'whole' : 'fragments');
    house.provider.next((_request, response) =>
      sendStream(response, `${text.slice(0, text.indexOf('\n\n') + 2)}data: {"broken\n\n`),
    );
    expect(await (await ask(true)).text()).toContain('no JSON');
  });
});

describe('a model that nobody has', () => {
  it.each(formats)('is told to a client of %s, with near names', async (client) => {
    const { path, body } = requestOf(client, 'chta/m-1', false);
    const response = await house.post(path, body);
    expect(response.status).toBe(404);
    expect(JSON.stringify(await response.json())).toContain('chat');
  });
});

describe('a provider in trouble', () => {
  const hello = {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  };
  const ask = (path: string, model: string, stream: boolean) =>
    house.post(path, { model, stream, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] });

  it('that falls silent is left: before its answer, and in the middle of a stream', async () => {
    house.provider.next(() => {});
    const silent = await ask('/v1/chat/completions', 'slow', false);
    expect([silent.status, await silent.text()]).toEqual([504, expect.stringContaining('said nothing for 150 ms')]);
    house.provider.next((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n');
    });
    const text = await (await ask('/v1/messages', 'slow', true)).text();
    expect(text).toContain('Hel');
    expect(text).toContain('said nothing for 150 ms');
  });

  it('is asked again where that may help, and the next one in its place', async () => {
    const before = house.provider.seen.length;
    house.provider.next((_request, response) => sendJson(response, { error: { message: 'Busy.' } }, 503));
    house.provider.next((_request, response) => sendJson(response, hello));
    expect((await ask('/v1/chat/completions', 'patient', false)).status).toBe(200);
    expect(house.provider.seen.length - before).toBe(2);
    house.provider.next((_request, response) => sendJson(response, hello));
    const spare = await ask('/v1/chat/completions', 'spare', false);
    expect([spare.status, spare.headers.get('x-hotcell-upstream')]).toEqual([200, 'chat/m-1']);
  });
});

describe('beside answers', () => {
  it('lists models in the shape of each client', async () => {
    const openai = Object(await (await house.get('/v1/models')).json());
    expect(openai.data.map(({ id }: { id: string }) => id)).toContain('chat/m-1');
    const anthropic = Object(await (await house.get('/v1/models', { 'anthropic-version': '2023-06-01' })).json());
    expect(anthropic).toMatchObject({
      has_more: false,
      data: expect.arrayContaining([expect.objectContaining({ type: 'model' })]),
    });
    const gemini = Object(await (await house.get('/v1beta/models')).json());
    expect(gemini.models.map(({ name }: { name: string }) => name)).toContain('models/chat/m-1');
    expect(await (await house.get('/v1/models/chat/m-1')).json()).toMatchObject({ id: 'chat/m-1', object: 'model' });
  });

  it('counts tokens: as the provider does, else as estimated', async () => {
    const body = { messages: [{ role: 'user', content: 'Hello there' }] };
    house.provider.next((_request, response) => sendJson(response, { input_tokens: 42 }));
    const counted = await house.post('/v1/messages/count_tokens', { ...body, model: 'anthropic/m-1' });
    expect(await counted.json()).toEqual({ input_tokens: 42 });
    expect(house.provider.seen.at(-1)).toMatchObject({ path: '/v1/messages/count_tokens', body: { model: 'm-1' } });
    const estimated = Object(await (await house.post('/v1/messages/count_tokens', { ...body, model: 'chat/m-1' })).json());
    expect(estimated.input_tokens).toBeGreaterThan(1);
    const contents = [{ role: 'user', parts: [{ text: 'Hello there' }] }];
    const gemini = Object(await (await house.post('/v1beta/models/chat/m-1:countTokens', { contents })).json());
    expect(gemini.totalTokens).toBeGreaterThan(1);
  });

  it('passes embeddings and transcriptions on, with the name that the provider has for the model', async () => {
    house.provider.next((_request, response) => sendJson(response, { data: [{ embedding: [1] }], usage: { prompt_tokens: 2 } }));
    const embedded = await house.post('/v1/embeddings', { model: 'chat/e-1', input: 'Hi' });
    expect(await embedded.json()).toMatchObject({ data: [{ embedding: [1] }] });
    expect(house.provider.seen.at(-1)).toMatchObject({ path: '/v1/embeddings', body: { model: 'e-1', input: 'Hi' } });

    house.provider.next((_request, response) => sendJson(response, { text: 'Hello.' }));
    const form = new FormData();
    form.set('model', 'chat/whisper');
    form.set('file', new File(['sound of a voice'], 'a.wav', { type: 'audio/wav' }));
    const heard = await fetch(`${house.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${house.token}` },
      body: form,
    });
    expect(await heard.json()).toEqual({ text: 'Hello.' });
    const sent = String(house.provider.seen.at(-1)?.body);
    expect(sent).toContain('sound of a voice');
    expect(sent).toMatch(/name="model"\r\n\r\nwhisper\r\n/);
    expect((await house.post('/v1/embeddings', { model: 'anthropic/e-1', input: 'Hi' })).status).toBe(400);
  });
});

describe('a client of models at an address that is not served', () => {
  const clients = [
    ['/v1/images/generations', {}, (body: unknown) => Object(body).error.code],
    ['/v1/chat/completion', {}, (body: unknown) => Object(body).error.code],
    ['/v1/nothing', { 'anthropic-version': '2023-06-01' }, (body: unknown) => `${Object(body).type} ${Object(body).error.type}`],
    ['/v1beta/models:none', {}, (body: unknown) => Object(body).error.status],
  ] as const;

  it.each(clients)('reads of %s in its own format', async (path, headers, read) => {
    const response = await house.post(path, {}, headers);
    const body: unknown = await response.json();
    expect(response.status).toBe(404);
    expect(Object(body).error.message).toContain(`Nothing is served at ${path}.`);
    expect(Object(body).error.message).toContain('hotcell docs gateway');
    expect(String(read(body))).toMatch(/not.found/i);
  });

  it('reads that the method is another', async () => {
    const response = await house.get('/v1/chat/completions');
    expect([response.status, Object(await response.json()).error.message]).toEqual([
      405,
      expect.stringContaining('answers POST'),
    ]);
  });
});
