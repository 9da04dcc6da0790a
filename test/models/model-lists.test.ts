import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/config/schema.ts';
import { type ModelProviderSettings, readProvider } from '../../src/config/settings/model-settings.ts';
import { createModelLists } from '../../src/models/model-lists.ts';
import { createUpstreamHttp } from '../../src/models/upstream/http.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on loopback that answers every request so. */
async function serve(answer: Answer) {
  const seen: { readonly path: string | undefined; readonly headers: IncomingMessage['headers'] }[] = [];
  const server = createServer((request, response) => {
    seen.push({ path: request.url, headers: request.headers });
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    seen,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

const json =
  (body: unknown): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

function provide(setting: ModelProviderSettings) {
  const provider = readProvider('own', setting, defaultSettings.models);
  if (provider === undefined) throw new TypeError('The provider has no address.');
  return provider;
}

function openLists(now: () => number = () => 0) {
  return createModelLists({ readKey: () => 'sk-1', http: createUpstreamHttp(), now });
}

describe('createModelLists', () => {
  it.each([
    [
      'openai-chat',
      { data: [{ id: 'm-1' }, { id: 'm-2' }, { id: 'm-1' }, { id: 7 }, null] },
      '/v1/models',
      'authorization',
      'Bearer sk-1',
    ],
    ['anthropic', { data: [{ type: 'model', id: 'm-1' }, { id: 'm-2' }] }, '/v1/models?limit=1000', 'x-api-key', 'sk-1'],
    [
      'gemini',
      {
        models: [
          { name: 'models/m-1', supportedGenerationMethods: ['generateContent'] },
          { name: 'models/embeds', supportedGenerationMethods: ['embedContent'] },
          { name: 'models/m-2' },
        ],
      },
      '/v1/models?pageSize=1000',
      'x-goog-api-key',
      'sk-1',
    ],
  ] as const)('reads the list of %s with the key in its header', async (format, body, path, header, value) => {
    await using server = await serve(json(body));
    const provider = provide({ baseUrl: `${server.url}/v1`, format, key: 'KEY' });
    expect(await openLists().read(provider)).toEqual(['m-1', 'm-2']);
    expect(server.seen.map(({ path: asked }) => asked)).toEqual([path]);
    expect(server.seen[0]?.headers[header]).toBe(value);
    if (format === 'anthropic') expect(server.seen[0]?.headers['anthropic-version']).toBe('2023-06-01');
  });

  it('asks once for all who want it at once, again after ten minutes, and after a failure when a minute is over', async () => {
    let now = 0;
    let isBroken = true;
    await using server = await serve((request, response) =>
      isBroken ? void response.writeHead(500).end('oops') : json({ data: [{ id: 'm-1' }] })(request, response),
    );
    const lists = openLists(() => now);
    const provider = provide({ baseUrl: server.url });
    expect(await Promise.all([lists.read(provider), lists.read(provider)])).toEqual([[], []]);
    now += 59_999;
    await lists.read(provider);
    expect(server.seen).toHaveLength(1);
    isBroken = false;
    now += 1;
    expect(await lists.read(provider)).toEqual(['m-1']);
    now += 599_999;
    await lists.read(provider);
    expect(server.seen).toHaveLength(2);
    now += 1;
    await lists.read(provider);
    expect(server.seen).toHaveLength(3);
  });

  it('follows no redirect, so that the key stays where it belongs', async () => {
    await using other = await serve(json({ data: [{ id: 'm-1' }] }));
    await using server = await serve(
      (_request, response) => void response.writeHead(302, { location: `${other.url}/models` }).end(),
    );
    expect(await openLists().read(provide({ baseUrl: server.url }))).toEqual([]);
    expect(other.seen).toEqual([]);
  });

  it('keeps a thousand models of a list, and nothing of one that does not end', async () => {
    const data = Array.from({ length: 1500 }, (_each, index) => ({ id: `m-${index}` }));
    await using long = await serve(json({ data: [{ id: 'x'.repeat(257) }, ...data] }));
    const names = await openLists().read(provide({ baseUrl: long.url }));
    expect([names.length, names[0], names.at(-1)]).toEqual([1000, 'm-0', 'm-999']);
    let sent = 0;
    await using endless = await serve((_request, response) => {
      const chunk = `"${'x'.repeat(65_536)}",`;
      const write = (): void => {
        for (let takesMore = true; takesMore && !response.destroyed; sent += chunk.length) takesMore = response.write(chunk);
      };
      response.on('drain', write).writeHead(200, { 'content-type': 'application/json' });
      response.write('[');
      write();
    });
    expect(await openLists().read(provide({ baseUrl: endless.url }))).toEqual([]);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it.each([
    ['no JSON', 'Welcome'],
    ['another thing', '{"hello":1}'],
    ['a number', '7'],
    ['null', 'null'],
  ])('takes %s for an empty list', async (_what, body) => {
    await using server = await serve((_request, response) => void response.writeHead(200).end(body));
    expect(await openLists().read(provide({ baseUrl: server.url }))).toEqual([]);
  });

  const failing: [string, Answer, string][] = [
    ['refuses', (_request, response) => void response.writeHead(401).end('no'), 'but with HTTP 401.'],
    ['answers a page', (_request, response) => void response.end('<p>Log in</p>'), 'with a list of models.'],
    [
      'sends on',
      (_request, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      'HTTP 302.',
    ],
  ];
  it.each(failing)('says why there is none: a server that %s', async (_name, answer, told) => {
    await using server = await serve(answer);
    const provider = provide({ baseUrl: `${server.url}/v1`, key: 'KEY' });
    let now = 0;
    const lists = openLists(() => now);
    expect(lists.problemOf?.(provider)).toBeUndefined();
    expect(await lists.read(provider)).toEqual([]);
    expect(lists.problemOf?.(provider)).toMatch(/^The provider "own" did not answer with (its|a) list of models.*/);
    expect(lists.problemOf?.(provider)).toContain(told);
    expect(server.seen).toHaveLength(1);
    now += 60_001;
    await lists.read(provider);
    expect(server.seen).toHaveLength(2);
  });
});
