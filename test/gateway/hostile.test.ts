import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { quotas } from '../../src/config/quotas.ts';
import { createShares } from '../../src/http/admission/shares.ts';
import { createDaemonLog } from '../../src/secrets/daemon-log.ts';
import { answers } from '../models/wire/upstreams.ts';
import { formats, type GatewayHouse, nameOf, openGateway, requestOf } from './gateway-house.ts';
import { sendJson } from './provider-server.ts';
import { call, say, toolPlugins } from './scripted.ts';

let house: GatewayHouse;
const logged: string[] = [];
/** Where no request of the daemon may arrive. */
const inner = createServer((_request, response) => {
  reached += 1;
  response.end('{"data":[{"id":"inner"}]}');
});
let reached = 0;
let innerUrl = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
  const address = inner.address();
  innerUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const log = createDaemonLog({ level: 'trace', write: (line) => void logged.push(line) });
  house = await openGateway(toolPlugins, {}, () => ({}), log);
});
afterAll(async () => {
  await house.close();
  inner.close();
});
beforeEach(() => house.provider.forget());

const runs = () => house.events.filter(({ type }) => type === 'execution-start').length;
const makeKey = (name: string, rules: object = {}) => house.parts.keys.create({ name, role: 'caller', rules }).key;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const plain = { 'x-hotcell-tools': 'off' };

describe('a provider', () => {
  it.each(formats)('of %s that sends its clients elsewhere is not followed', async (format) => {
    for (const headers of [plain, {}]) {
      for (const isStreamed of [true, false]) {
        house.provider.next((_request, response) =>
          response.writeHead(307, { location: `${innerUrl}/v1/chat/completions` }).end(),
        );
        const { path, body } = requestOf(format, `${nameOf(format)}/m-1`, isStreamed, [`Tool${isStreamed}`]);
        const response = await house.post(path, body, headers);
        expect(response.status).toBe(502);
        expect(await response.text()).toContain('redirect (HTTP 307)');
      }
    }
    expect(reached).toBe(0);
  });

  it('that compresses what nobody asked it to compress is read as what it says', async () => {
    const zip = (format: 'openai-chat' | 'anthropic') => gzipSync(JSON.stringify(answers[format]('fragments', [])));
    const send = (bytes: Buffer, coding = 'gzip') =>
      house.provider.next((_request, response) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(bytes),
      );
    const ask = (model: string) =>
      house.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] }, plain);
    for (const format of ['openai-chat', 'anthropic'] as const) {
      send(zip(format));
      const response = await ask(`${nameOf(format)}/m-1`);
      expect(response.headers.get('content-encoding')).toBeNull();
      expect(Object(await response.json()).choices[0].message.content).toBe('Let me see.');
    }
    for (const bytes of [zip('anthropic').subarray(0, 60), Buffer.from('no gzip at all')]) {
      send(bytes);
      expect((await ask('anthropic/m-1')).status).toBe(502);
    }
    send(zip('anthropic'), 'compress');
    expect((await ask('anthropic/m-1')).status).toBe(502);
  });

  it('that sends a bomb is read to its bound', async () => {
    const bomb = gzipSync(Buffer.alloc(70 * 1024 * 1024, ' '));
    house.provider.next((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
    );
    const body = { model: 'anthropic/m-1', messages: [{ role: 'user', content: 'Hi' }] };
    const response = await house.post('/v1/chat/completions', body, plain);
    expect(response.status).toBe(502);
    expect(await response.text()).toContain('more than 67108864 bytes');
  });

  it.each(formats)('of %s that calls what it was not told of has nothing run', async (format) => {
    const before = runs();
    const key = makeKey(`narrow ${format}`, { tools: ['weather'] });
    // A tool that the key may not call, one that is not there, and ids of the daemon's own making.
    say(house.provider, format, false, [
      [call('exe_00000000', 'wipe', { disk: 'C' }), call('loop_00000000', 'nowhere', {}), call('resp_0', 'search_tools', {})],
      [],
    ]);
    const body = { model: `${nameOf(format)}/m-1`, messages: [{ role: 'user', content: 'Go' }] };
    const response = await house.post('/v1/chat/completions', body, bearer(key));
    expect(response.status).toBe(200);
    expect(runs()).toBe(before);
    const told = JSON.stringify(house.provider.seen.at(-1)?.body);
    expect(told).toContain('There is no tool \\"wipe\\"');
    expect(told).toContain('There is no tool \\"nowhere\\"');
  });

  it.each(formats)("of %s that calls the client's tool by a name of ours has the client run it", async (format) => {
    const before = runs();
    say(house.provider, format, false, [[call('c1', 'weather', { city: 'Oslo' })]]);
    const { path, body } = requestOf('openai-chat', `${nameOf(format)}/m-1`, false, ['weather', format]);
    const answer = Object(await (await house.post(path, body)).json());
    expect(answer.choices[0].message.tool_calls).toMatchObject([{ function: { name: 'weather' } }]);
    expect(runs()).toBe(before);
  });

  it('that repeats the id of a call has each of them run once, with a result of its own', async () => {
    const before = runs();
    const twice = [call('same', 'weather', { city: 'Oslo' }), call('same', 'weather', { city: 'Bern' })];
    say(house.provider, 'anthropic', false, [twice, [call('same', 'weather', { city: 'Rome' })], []]);
    const body = { model: 'anthropic/m-1', messages: [{ role: 'user', content: 'Where?' }] };
    expect((await house.post('/v1/chat/completions', body)).status).toBe(200);
    expect(runs() - before).toBe(3);
    const sent = JSON.stringify(house.provider.seen.at(-1)?.body);
    const ids = [...sent.matchAll(/"tool_use_id":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(3);
  });
});

describe('a client', () => {
  it.each(formats)('of %s that sends a compressed body is refused, and nothing is unpacked', async (format) => {
    const { path, body } = requestOf(format, 'chat/m-1', false);
    const before = house.provider.seen.length;
    for (const coding of ['gzip', 'deflate', 'br']) {
      const response = await fetch(house.url + path, {
        method: 'POST',
        headers: { ...bearer(house.token), 'content-type': 'application/json', 'content-encoding': coding },
        body: gzipSync(JSON.stringify(body)),
      });
      expect([coding, response.status]).toEqual([coding, 400]);
      expect(Object(await response.json()).error.message).toEqual(expect.any(String));
    }
    expect(house.provider.seen).toHaveLength(before);
  });

  it.each(formats)('of %s that writes headers or paths into the name of a model writes none', async (format) => {
    house.provider.always((_request, response) => sendJson(response, answers[format]('fragments', [])));
    const names = ['m-1\r\nx-evil: 1', '../../admin?x=', 'm 1/../../../etc/passwd', 'm#f', 'ü🌍'];
    for (const name of names) {
      const { path, body } = requestOf(format, `${nameOf(format)}/${encodeURIComponent(name)}`, false);
      const sent = format === 'gemini' ? body : { ...body, model: `${nameOf(format)}/${name}` };
      const response = await house.post(path, sent, plain);
      expect(response.headers.get('x-evil')).toBeNull();
      const last = house.provider.seen.at(-1);
      expect(last?.headers['x-evil']).toBeUndefined();
      // Whatever it is called, it is asked at the path of its format.
      const paths = { 'openai-chat': '/v1/chat/completions', 'openai-responses': '/v1/responses', anthropic: '/v1/messages' };
      if (format === 'gemini') expect(last?.path).toMatch(/^\/v1beta\/models\/[^/?#]*:generateContent$/);
      else expect(last?.path).toBe(paths[format]);
    }
    house.provider.always((_request, response) => response.writeHead(404).end());
  });

  it('that has its key in the address finds it in no log, record, event or error', async () => {
    const key = makeKey('in the address');
    const addresses = [
      `/v1beta/models/gemini/m-1:generateContent?key=${key}`,
      `/v1beta/models/gemini/m-1:streamGenerateContent?alt=sse&key=${key}`,
      `/v1beta/models/nobody/m:generateContent?key=${key}`,
      `/v1beta/models/gemini/m-1:unheard?key=${key}`,
      `/v1beta/nowhere?key=${key}`,
      `/v1beta/models/gemini/m-1:generateContent?key=wrong-${key}`,
    ];
    for (const address of addresses) {
      say(house.provider, 'gemini', address.includes('stream'), [[call('c1', 'weather', { city: 'Oslo' })], []]);
      const response = await fetch(house.url + address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: address.replaceAll(key, '') }] }] }),
      });
      expect(await response.text()).not.toContain(key);
      house.provider.forget();
    }
    const admin = await house.get('/api/executions?limit=100');
    const traces = [logged, house.events, await admin.json(), house.provider.seen.map(({ path, headers }) => [path, headers])];
    expect(JSON.stringify(traces)).not.toContain(key);
  });
});

describe('a budget', () => {
  it('is not passed by requests of every format at once', async () => {
    const key = makeKey('racing', { modelTokensPerDay: 2000, tools: [] });
    const gate = Promise.withResolvers<void>();
    let under = 0;
    house.provider.always((request, response) => {
      under += 1;
      const format = formats.find((each) => request.path.includes(paths[each])) ?? 'gemini';
      void gate.promise.then(() => sendJson(response, answers[format]('fragments', [])));
    });
    const paths = {
      'openai-chat': '/chat/completions',
      'openai-responses': '/responses',
      anthropic: '/messages',
      gemini: 'models',
    };
    const limits = {
      'openai-chat': { max_tokens: 400 },
      'openai-responses': { max_output_tokens: 400 },
      anthropic: { max_tokens: 400 },
      gemini: { generationConfig: { maxOutputTokens: 400 } },
    };
    let refused = 0;
    const all = Array.from({ length: 40 }, async (_, index) => {
      const format = formats[index % formats.length] ?? 'openai-chat';
      const { path, body } = requestOf(format, `${nameOf(formats[(index >> 2) % 4] ?? 'gemini')}/m-1`, false, [`T${index}`]);
      const { status } = await house.post(path, { ...body, ...limits[format] }, bearer(key));
      if (status === 429) refused += 1;
      return status;
    });
    await expect.poll(() => under + refused, { timeout: 20_000 }).toBe(40);
    // Each sets more than its 400 tokens aside.
    expect(under).toBeGreaterThan(0);
    expect(under).toBeLessThan(5);
    gate.resolve();
    expect((await Promise.all(all)).filter((status) => status === 200)).toHaveLength(under);
    house.provider.always((_request, response) => response.writeHead(404).end());
  });

  it('is not passed by the rounds of a loop', async () => {
    const { row, key } = house.parts.keys.create({ name: 'looping', role: 'caller', rules: { modelTokensPerDay: 4000 } });
    let count = 0;
    house.provider.always((_request, response) => {
      count += 1;
      sendJson(
        response,
        answers['openai-chat']('fragments', [call(`c${count}`, 'weather', { city: `C${count} ${'x'.repeat(900)}` })]),
      );
    });
    const body = { model: 'chat/m-1', max_tokens: 500, messages: [{ role: 'user', content: 'Go on' }] };
    const response = await house.post('/v1/chat/completions', body, bearer(key));
    expect(response.status).toBe(429);
    expect(await response.text()).toContain('This key may use 4000 tokens');
    expect(count).toBeLessThan(5);
    const day = Math.floor(Date.now() / 86_400_000);
    expect(house.parts.store.modelUses.used({ caller: row.id, day }).tokens).toBeLessThanOrEqual(4000);
    house.provider.always((_request, response) => response.writeHead(404).end());
  });
});

/** `npm run test:long streams` opens five hundred. */
const manyStreams = Number(process.env.HOTCELL_STREAMS ?? 40);

describe('streams that nobody reads', () => {
  it('leave the operator his requests, and wait at the provider', async () => {
    const key = makeKey('hoarder', { tools: [] });
    let open = 0;
    let written = 0;
    const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(60_000) } }] })}\n\n`;
    const perStream = 32 * 1024 * 1024;
    let whole = 0;
    house.provider.always((_request, response) => {
      open += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let sent = 0;
      const more = (): void => {
        for (let isFree = true; isFree && !response.destroyed && sent < perStream; sent += piece.length) {
          isFree = response.write(piece);
          written += piece.length;
        }
        if (sent >= perStream) whole += 1;
      };
      response.on('drain', more);
      more();
    });
    const { hostname, port } = new URL(house.url);
    const text = JSON.stringify({ model: 'chat/m-1', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
    const sockets: Socket[] = [];
    for (let count = 0; count < manyStreams; count++) {
      const socket = connect(Number(port), hostname);
      socket.pause();
      socket.write(`${head}content-length: ${text.length}\r\n\r\n${text}`);
      sockets.push(socket);
      await once(socket, 'connect');
    }
    await expect.poll(() => open, { timeout: 240_000 }).toBe(manyStreams);
    // What is written comes to a standstill: nothing in between takes it in.
    let before = -1;
    for (let rounds = 0; before !== written && rounds < 200; rounds++) {
      before = written;
      for (let count = 0; count < 20; count++) expect((await fetch(`${house.url}/healthz`)).status).toBe(200);
    }
    expect([before === written, whole]).toEqual([true, 0]);
    house.provider.next((_request, response) => sendJson(response, answers['openai-chat']('fragments', [])));
    const body = { model: 'chat/m-1', messages: [{ role: 'user', content: 'Am I heard?' }] };
    expect((await house.post('/v1/chat/completions', body, plain)).status).toBe(200);
    expect((await house.get('/api/tools')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    house.provider.always((_request, response) => response.writeHead(404).end());
  }, 300_000);

  it('of many callers leave the last of all answers to admins', () => {
    const { perCaller, inAll, reserve } = quotas['gateway.answers'];
    const shares = createShares(quotas['gateway.answers']);
    for (let held = 0; held < inAll - reserve; held++) shares.take({ id: `c${Math.floor(held / perCaller)}`, role: 'caller' });
    expect(() => shares.take({ id: 'another', role: 'caller' })).toThrow(/kept for admins/);
    for (let held = 0; held < reserve; held++) shares.take({ id: 'local', role: 'admin' });
    expect(() => shares.take({ id: 'local', role: 'admin' })).toThrow(/at once/);
  });
});
