import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotas } from '../../src/config/quotas.ts';
import { createShares } from '../../src/http/admission/shares.ts';
import { type GatewayHouse, openGateway } from './gateway-house.ts';
import { sendJson } from './provider-server.ts';

const counter = `let runs = 0;
export default { name: 'secret_tool', description: 'Nobody but its owner may know of it.', isolation: 'plugin',
  parameters: { type: 'object' }, handler: () => { runs += 1; return 'ran ' + runs; } }`;

let house: GatewayHouse;
let keys: { alice: string; bob: string };
beforeAll(async () => {
  house = await openGateway({ 'secret_tool.ts': counter });
  const make = (name: string) => house.parts.keys.create({ name, role: 'caller', rules: { tools: ['nothing'] } }).key;
  keys = { alice: make('alice'), bob: make('bob') };
});
afterAll(() => house.close());

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const completion = (message: object, finish_reason = 'stop') => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
});

describe('a key', () => {
  it('never leaves the daemon, wherever a client shows it', async () => {
    house.provider.always((_request, response) => sendJson(response, completion({ content: 'Hi.' })));
    const before = house.provider.seen.length;
    const body = { model: 'chat/m-1', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 };
    for (const headers of [{ 'x-api-key': keys.alice }, { 'x-goog-api-key': keys.alice }, bearer(keys.alice)]) {
      const response = await fetch(`${house.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(200);
    }
    const inQuery = await fetch(`${house.url}/v1beta/models/chat/m-1:generateContent?key=${keys.alice}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
    });
    expect(inQuery.status).toBe(200);
    const sent = house.provider.seen.slice(before);
    expect(sent).toHaveLength(4);
    // Also where a request goes on as it came, and the provider takes its key in another header.
    for (const headers of [{ 'x-goog-api-key': keys.alice, 'x-api-key': keys.alice }, bearer(keys.alice)])
      await fetch(`${house.url}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ ...body, model: 'anthropic/m-1' }),
      });
    expect(JSON.stringify(house.provider.seen.slice(before))).not.toContain(keys.alice);
    expect(new Set(sent.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer provider-secret']));
  });

  it('whose rights are taken from it while it sends a request asks no model with those that it had', async () => {
    const { row, key } = house.parts.keys.create({ name: 'slow', role: 'caller' });
    const before = house.provider.seen.length;
    const body = JSON.stringify({ model: 'chat/m-1', messages: [{ role: 'user', content: 'Hi' }] });
    const headers = { ...bearer(key), 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(`${house.url}/v1/chat/completions`, { method: 'POST', headers });
    const answered = once(sent, 'response');
    sent.write(body.slice(0, 5));
    // The head of the request is there: the door has looked at the key.
    await expect.poll(() => house.parts.keys.list().find(({ id }) => id === row.id)?.lastUsedAtMs).toEqual(expect.any(Number));
    house.parts.keys.update(row.id, { tools: [] });
    sent.end(body.slice(5));
    const [answer] = await answered;
    expect(answer.statusCode).toBe(401);
    expect(house.provider.seen).toHaveLength(before);
  });

  it('of nobody is refused in the format of the client', async () => {
    const refused = await fetch(`${house.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 'nonsense' } });
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  });

  it('gets no response that another has stored, and does not learn that there is one', async () => {
    house.provider.next((_request, response) => sendJson(response, completion({ content: 'For Alice.' })));
    const made = await house.post('/v1/responses', { model: 'chat/m-1', input: 'Hi' }, bearer(keys.alice));
    const { id } = Object(await made.json());
    const own = await house.get(`/v1/responses/${id}`, bearer(keys.alice));
    expect(await own.json()).toMatchObject({ id, status: 'completed' });
    const asked = [
      house.get(`/v1/responses/${id}`, bearer(keys.bob)),
      house.get('/v1/responses/resp_00000000000000000000000000000000', bearer(keys.bob)),
      fetch(`${house.url}/v1/responses/${id}`, { method: 'DELETE', headers: bearer(keys.bob) }),
      house.post('/v1/responses', { model: 'chat/m-1', input: 'Go on', previous_response_id: id }, bearer(keys.bob)),
    ];
    for (const response of await Promise.all(asked)) {
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: 'previous_response_not_found' } });
    }
    expect((await house.get(`/v1/responses/${id}`, bearer(keys.alice))).status).toBe(200);
  });

  it('holds no more answers at once than its share', () => {
    const shares = createShares(quotas['gateway.answers']);
    const alice = { id: 'alice', role: 'caller' as const };
    for (let count = 0; count < quotas['gateway.answers'].perCaller; count++) shares.take(alice);
    expect(() => shares.take(alice)).toThrow(/at once/);
    expect(() => shares.take({ id: 'bob', role: 'caller' })).not.toThrow();
  });
});

describe('a client', () => {
  it('that sends a form of very many parts is refused before it is taken apart', async () => {
    const part = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n';
    const send = (count: number) =>
      fetch(`${house.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { ...bearer(keys.bob), 'content-type': 'multipart/form-data; boundary=x' },
        body: `${part.repeat(count)}${part.replace('"a"', '"model"').replace(/\r\n$/, 'chat/m-1\r\n')}--x--\r\n`,
      });
    const before = house.provider.seen.length;
    house.provider.always((_request, response) => sendJson(response, { text: 'Hi.' }));
    expect((await send(20)).status).toBe(200);
    const refused = await send(2000);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('more than 100 parts');
    expect(house.provider.seen).toHaveLength(before + 1);
  });
});

describe('a provider', () => {
  it('that calls a tool which was not injected gets nothing run', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'secret_tool', arguments: '{}' } };
    house.provider.next((_request, response) => sendJson(response, completion({ tool_calls: [call] }, 'tool_calls')));
    const body = { model: 'chat/m-1', messages: [{ role: 'user', content: 'Hi' }] };
    const response = await house.post('/v1/chat/completions', body, bearer(keys.bob));
    // The key sees no tool: the answer goes to the client as it came, and it is the client's to say what it makes of it.
    expect(Object(await response.json()).choices[0].message.tool_calls).toEqual([call]);
    const off = await house.post('/v1/chat/completions', body, { 'x-hotcell-tools': 'off' });
    expect(off.status).toBe(200);
    expect(house.events.some(({ type }) => type === 'execution-start')).toBe(false);
  });

  it('that streams without end is left when its client is gone', async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    house.provider.next((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('close', () => resolve());
      const more = (): void => {
        while (
          !response.destroyed &&
          response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(1000) } }] })}\n\n`)
        );
      };
      response.on('drain', more);
      more();
    });
    const leaving = new AbortController();
    const body = { model: 'chat/m-1', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const response = await house.post('/v1/chat/completions', body, bearer(keys.bob), leaving.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    leaving.abort();
    await left;
  });

  it('is read no faster than its client reads', async () => {
    let written = 0;
    const { promise: held, resolve } = Promise.withResolvers<void>();
    house.provider.next((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(60_000) } }] })}\n\n`;
      const more = (): void => {
        for (let isFree = true; isFree && !response.destroyed && written < 64_000_000; written += piece.length)
          isFree = response.write(piece);
        // What is left waits at the provider: nobody has taken it in between.
        if (written < 64_000_000) setImmediate(() => resolve());
      };
      response.on('drain', more);
      more();
    });
    const { hostname, port } = new URL(house.url);
    const socket = connect(Number(port), hostname);
    const text = JSON.stringify({ model: 'chat/m-1', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
    socket.pause();
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${keys.bob}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
    await held;
    // The daemon has time for others, and takes nothing more in meanwhile.
    for (let count = 0; count < 300 && written < 64_000_000; count++) await fetch(`${house.url}/healthz`);
    expect(written).toBeLessThan(64_000_000);
    socket.destroy();
  });

  it('does not get the key repeated to the client, and tells it that the daemon has no valid one', async () => {
    house.provider.next((_request, response) =>
      sendJson(response, { error: { message: 'Incorrect API key provided: provider-secret.' } }, 401),
    );
    const body = { model: 'chat/m-1', messages: [] };
    const response = await house.post('/v1/chat/completions', body, bearer(keys.bob));
    expect(response.status).toBe(502);
    const said = await response.text();
    expect(said).not.toContain('provider-secret');
    expect(said).toContain('PROVIDER_KEY');
  });
});
