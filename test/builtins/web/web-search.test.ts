import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Settings } from '../../../src/config/schema.ts';
import { checkSearch } from '../../../src/operations/doctor/daemon-checks.ts';
import { startSmallDaemon } from '../../small-daemon.ts';
import { serveWeb } from '../web-server.ts';

async function openHouse(search: NonNullable<Settings['search']>, more: Settings = {}) {
  const daemon = await startSmallDaemon(
    {},
    {
      grantRequested: false,
      builtins: { tools: ['web_search'] },
      network: { timeoutMs: 1000 },
      search,
      ...more,
    },
  );
  onTestFinished(() => daemon.close());
  return daemon;
}

async function openProvider(
  provider: 'searxng' | 'brave' | 'tavily',
  listener: RequestListener,
  more: { readonly key?: string; readonly cacheMs?: number; readonly env?: Record<string, string> } = {},
) {
  const { env, ...search } = more;
  const host = await serveWeb(listener);
  return await openHouse({ provider, url: `http://${host}/`, ...search }, env === undefined ? {} : { env });
}

const answering =
  (answer: unknown): RequestListener =>
  (_request, response) =>
    void response.end(JSON.stringify(answer));
const hit = { title: 'Harbour', url: 'https://example.com/harbour', snippet: 'Ships.' };

describe('web_search', () => {
  it('asks SearXNG, and remembers its answer', async () => {
    const asked: (string | undefined)[] = [];
    const house = await openProvider('searxng', (request, response) => {
      asked.push(request.url);
      const results = Array.from({ length: 5 }, () => ({ title: 'Harbour', url: hit.url, content: 'Ships.', engine: 'x' }));
      response.end(JSON.stringify({ results }));
    });
    const search = (args: object) => house.call('web_search', args);
    expect((await search({ query: ' ships & more ', limit: 2 })).output).toEqual({ results: [hit, hit] });
    expect((await search({ query: 'ships & more', limit: 2 })).output).toEqual({ results: [hit, hit] });
    expect(asked).toEqual(['/search?q=ships+%26+more&format=json']);
    await search({ query: 'other' });
    expect(asked.length).toBe(2);
  });

  it('asks Brave with the key in its header', async () => {
    const keys: unknown[] = [];
    const house = await openProvider(
      'brave',
      (request, response) => {
        keys.push(request.headers['x-subscription-token'], request.url);
        const results = [{ title: 'Harbour', url: hit.url, description: 'Ships.' }];
        response.end(JSON.stringify({ type: 'search', web: { results } }));
      },
      { key: 'BRAVE_KEY', env: { BRAVE_KEY: 'brave-key-1234' } },
    );
    expect((await house.call('web_search', { query: 'ships', limit: 3 })).output).toEqual({ results: [hit] });
    expect(keys).toEqual(['brave-key-1234', '/res/v1/web/search?q=ships&count=3&text_decorations=false']);
  });

  it('asks Tavily with the key as its bearer', async () => {
    const seen: unknown[] = [];
    const house = await openProvider(
      'tavily',
      async (request, response) => {
        const chunks = await request.toArray();
        seen.push(request.headers.authorization, JSON.parse(Buffer.concat(chunks).toString()));
        response.end(JSON.stringify({ results: [{ title: 'Harbour', url: hit.url, content: 'Ships.' }] }));
      },
      { key: 'TAVILY_KEY', env: { TAVILY_KEY: 'tvly-1234' } },
    );
    expect((await house.call('web_search', { query: 'ships' })).output).toEqual({ results: [hit] });
    expect(seen).toEqual(['Bearer tvly-1234', { query: 'ships', max_results: 8 }]);
  });

  it.each([
    [{}, 'search: { provider: searxng'],
    [{ provider: 'searxng' }, 'search.url'],
    [{ provider: 'brave' }, 'search.key: BRAVE_KEY'],
    [{ provider: 'tavily', key: 'NO_SUCH_KEY' }, 'hotcell secret set NO_SUCH_KEY'],
  ] as const)('says what is missing with %j', async (search, said) => {
    const house = await openHouse(search);
    const { error } = await house.call('web_search', { query: 'ships' });
    expect(error).toMatchObject({ code: 'search-not-configured', message: expect.stringContaining(said) });
  });

  it.each([
    ['no JSON', '<html>'],
    ['another JSON', '[]'],
    ['null', 'null'],
    ['results that are none', '{"results":"many"}'],
    ['deep JSON', '['.repeat(200_000)],
    ['nothing', ''],
  ])('fails with a provider that answers %s', async (_what, answer) => {
    const house = await openProvider('searxng', (_request, response) => void response.end(answer));
    expect((await house.call('web_search', { query: 'ships' })).error?.code).toBe('search-failed');
  });

  it('leaves out hits that are none, and cuts what is too long', async () => {
    const long = { title: 'x'.repeat(10_000), url: 'https://a.example/', content: 'y'.repeat(100_000) };
    const results = [
      1,
      null,
      {},
      { url: 'javascript:alert(1)' },
      { url: 'not a url' },
      { url: 7 },
      { url: 'https://b.example', title: 7 },
      long,
    ];
    const house = await openProvider('searxng', answering({ results }));
    const { output } = await house.call('web_search', { query: 'ships' });
    expect(output).toEqual({ results: [{ title: 'x'.repeat(300), url: 'https://a.example/', snippet: 'y'.repeat(1000) }] });
  });

  it('fails with a provider that says no, sends elsewhere, never ends or never answers, and remembers none of it', async () => {
    const elsewhere: string[] = [];
    const other = await serveWeb((request, response) => {
      elsewhere.push(request.url ?? '');
      response.end('{"results":[]}');
    });
    const behaviours: RequestListener[] = [
      (_request, response) => void response.writeHead(429).end('{"results":[]}'),
      (_request, response) => void response.writeHead(302, { location: `http://${other}/` }).end(),
      (_request, response) => void response.end(`{"results":[${'"x",'.repeat(1_000_000)}1]}`),
      () => {},
      answering({ results: [] }),
    ];
    let at = 0;
    const house = await openProvider('searxng', (request, response) => behaviours[at]?.(request, response));
    const codes: unknown[] = [];
    for (; at < behaviours.length; at++) {
      const { status, error } = await house.call('web_search', { query: 'ships' });
      codes.push(error?.code ?? status);
    }
    expect(codes).toEqual(['search-failed', 'network-failed', 'search-failed', 'network-failed', 'success']);
    expect(elsewhere).toEqual([]);
  });

  it('takes a key from a secret only where that is bound to the provider', async () => {
    const house = await openProvider('brave', answering({ type: 'search' }), { key: 'KEY' });
    const host = new URL(house.parts.config.search.url).host;
    const bind = (header: string, to: string) =>
      house.parts.secrets.set({ name: 'KEY', value: 'sesame-open-1234', hosts: [to], header });
    const codeNow = async () => (await house.call('web_search', { query: 'ships' })).error?.code ?? 'success';
    await bind('authorization', host);
    expect(await codeNow()).toBe('search-not-configured');
    await bind('x-subscription-token', 'api.example.com');
    expect(await codeNow()).toBe('search-not-configured');
    await bind('x-subscription-token', host);
    expect(await codeNow()).toBe('success');
  });
});

describe('checkSearch', () => {
  it('says what web_search lacks where it is on', async () => {
    const { config } = (await openHouse({ provider: 'searxng' })).parts;
    const facts = { config, isServing: true };
    expect(checkSearch(facts)).toMatchObject({ status: 'warn', fix: expect.stringContaining('search.url') });
    const off = { ...config, builtins: { ...config.builtins, tools: [] } };
    expect(checkSearch({ ...facts, config: off })).toMatchObject({ status: 'ok' });
    const set = { ...config, search: { ...config.search, url: 'https://search.example.com' } };
    expect(checkSearch({ ...facts, config: set })).toMatchObject({ status: 'ok', message: 'web_search asks searxng.' });
  });
});
