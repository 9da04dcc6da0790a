import { describe, expect, it } from 'vitest';
import { createFetch } from '../../../src/capabilities/fetch.ts';
import { createSecretRegistry } from '../../../src/secrets/secret-registry.ts';
import { temporaryStore } from '../../store/temporary-store.ts';
import { createUser, type TestUser } from '../capability-user.ts';
import { refusalOf } from './fetching.ts';
import { startWebServer } from './web-server.ts';

const value = 'v4lue+of/the key&=';
const queryValue = 'query & välue 123';

/** Two servers of which the first is bound, a plugin that may reach both and has two secrets, and what it is handed for them. */
async function open(options: { grant?: unknown; redirect?: string } = {}) {
  const other = await startWebServer((_request, response) => response.end('other'));
  const web = await startWebServer((request, response) => {
    if (request.path.startsWith('/to-other')) {
      response.writeHead(302, { location: `http://127.0.0.1:${other.port}/there` }).end();
    } else if (request.path.startsWith('/echo-to-other')) {
      const key = encodeURIComponent(String(request.headers['x-key']));
      response.writeHead(302, { location: `http://127.0.0.1:${other.port}/there?k=${key}` }).end();
    } else if (request.path.startsWith('/to-self')) {
      response.writeHead(307, { location: '/end' }).end();
    } else response.end(`you sent ${request.headers['x-key']}`);
  });
  const secrets = createSecretRegistry({ table: temporaryStore().secrets, config: {}, env: {}, now: Date.now });
  const hosts = [`127.0.0.1:${web.port}`, 'api.test'];
  secrets.set({ name: 'KEY', value, hosts, header: 'X-Key' });
  secrets.set({ name: 'LOGIN', value, hosts, header: 'authorization' });
  secrets.set({ name: 'QUERY', value: queryValue, hosts, query: 'api_key' });
  const capability = createFetch({
    network: { maxResponseBytes: 1_000_000, timeoutMs: 5_000, maxRedirects: 5 },
    resolve: async () => ['93.184.216.34'],
    secrets,
  });
  const grant = options.grant ?? { net: ['127.0.0.1', 'api.test'], env: ['KEY', 'LOGIN', 'QUERY'] };
  const user = createUser(grant);
  return {
    web,
    other,
    user,
    secrets,
    url: `http://127.0.0.1:${web.port}`,
    placeholder: (name: string, executionId = user.executionId) => secrets.placeholderOf(executionId, name),
    async fetch(url: string, init: Init = {}, who: TestUser = user) {
      const { body, ...rest } = init;
      const request = { op: 'fetch', payload: JSON.stringify({ url, ...rest }), ...(body && { body: Buffer.from(body) }) };
      const result = await capability.operations.fetch(request, who, new AbortController().signal);
      return { payload: JSON.stringify(result.payload), text: Buffer.from(result.body ?? []).toString() };
    },
    [Symbol.asyncDispose]: async () => {
      await capability.close();
      await web[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

interface Init {
  readonly method?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
}

describe('a secret in a request', () => {
  it('becomes its value in the bound header, with what stands around it', async () => {
    await using house = await open();
    const { text } = await house.fetch(`${house.url}/a`, {
      headers: [
        ['X-KEY', house.placeholder('KEY')],
        ['Authorization', `Bearer ${house.placeholder('LOGIN')}`],
      ],
    });
    expect(house.web.seen[0]?.headers).toMatchObject({ 'x-key': value, authorization: `Bearer ${value}` });
    expect(text).toBe('you sent [secret KEY]');
    expect(house.user.uses).toContainEqual(['env', 'KEY', true]);
  });

  it('becomes its value inside Basic credentials', async () => {
    await using house = await open();
    const login = Buffer.from(`user:${house.placeholder('LOGIN')}`).toString('base64');
    await house.fetch(`${house.url}/a`, { headers: [['authorization', `Basic ${login}`]] });
    const [, sent = ''] = house.web.seen[0]?.headers.authorization?.split(' ') ?? [];
    expect(Buffer.from(sent, 'base64').toString()).toBe(`user:${value}`);
  });

  it('is encoded in the bound query parameter, and the rest of the query stays as it was written', async () => {
    await using house = await open();
    const { payload } = await house.fetch(`${house.url}/a?x=%7e+1&api_key=${house.placeholder('QUERY')}&y`);
    expect(house.web.seen[0]?.path).toBe(`/a?x=%7e+1&api_key=${encodeURIComponent(queryValue)}&y`);
    expect(JSON.parse(payload).url).toBe(`${house.url}/a?x=%7e+1&api_key=${house.placeholder('QUERY')}&y`);
  });

  it('is the same in a redirect to the same place, and goes to no other', async () => {
    await using house = await open();
    const headers = [['x-key', house.placeholder('KEY')]] as const;
    await house.fetch(`${house.url}/to-self`, { headers });
    expect(house.web.seen.map((request) => request.headers['x-key'])).toEqual([value, value]);
    await house.fetch(`${house.url}/to-other`, { headers });
    expect(house.other.seen.map((request) => request.headers['x-key'])).toEqual([undefined]);
  });

  it('is not carried on by a redirect that holds it', async () => {
    await using house = await open();
    const refused = await refusalOf(
      house.fetch(`${house.url}/echo-to-other`, { headers: [['x-key', house.placeholder('KEY')]] }),
    );
    expect([refused.code, house.other.seen]).toEqual(['secret-misplaced', []]);
    expect(refused.message).not.toContain(value);
  });
});

type House = Awaited<ReturnType<typeof open>>;
type Misuse = (house: House) => Promise<unknown>;

const misuses: Readonly<Record<string, Misuse>> = {
  'in another header': (house) => house.fetch(house.url, { headers: [['x-other', house.placeholder('KEY')]] }),
  'in the name of a header': (house) => house.fetch(house.url, { headers: [[house.placeholder('KEY'), '1']] }),
  'in Basic credentials of another secret': (house) =>
    house.fetch(house.url, { headers: [['authorization', `Basic ${Buffer.from(house.placeholder('KEY')).toString('base64')}`]] }),
  'in the path': (house) => house.fetch(`${house.url}/${house.placeholder('KEY')}`),
  'in the host': (house) =>
    house.fetch(`http://${house.placeholder('KEY')}.api.test/`, {}, createUser({ net: ['*.api.test'], env: ['KEY'] })),
  'in the fragment': (house) => house.fetch(`${house.url}/#${house.placeholder('QUERY')}`),
  'in another query parameter': (house) => house.fetch(`${house.url}/?key=${house.placeholder('QUERY')}`),
  'in the name of a query parameter': (house) => house.fetch(`${house.url}/?${house.placeholder('QUERY')}=api_key`),
  'percent-encoded in another query parameter': (house) =>
    house.fetch(`${house.url}/?key=${house.placeholder('QUERY').replace('h', '%68')}`),
  'of a header in the query': (house) => house.fetch(`${house.url}/?api_key=${house.placeholder('KEY')}`),
  'of the query in a header': (house) => house.fetch(house.url, { headers: [['x-key', house.placeholder('QUERY')]] }),
  'in the body': (house) => house.fetch(house.url, { method: 'POST', body: `{"key":"${house.placeholder('KEY')}"}` }),
  'to another port': (house) =>
    house.fetch(`http://127.0.0.1:${house.other.port}/`, { headers: [['x-key', house.placeholder('KEY')]] }),
  'to the bound host without TLS': (house) => house.fetch('http://api.test/', { headers: [['x-key', house.placeholder('KEY')]] }),
  'of another execution': (house) => house.fetch(house.url, { headers: [['x-key', house.placeholder('KEY', 'exe_2')]] }),
  'that was made up': (house) => house.fetch(house.url, { headers: [['x-key', `hotcell-secret-${'0'.repeat(40)}`]] }),
  'whose grant was taken back': (house) => {
    house.user.grant({ net: ['127.0.0.1'] });
    return house.fetch(house.url, { headers: [['x-key', house.placeholder('KEY')]] });
  },
  'that was removed': (house) => {
    house.secrets.remove('KEY');
    return house.fetch(house.url, { headers: [['x-key', house.placeholder('KEY')]] });
  },
};

describe('a placeholder', () => {
  it.each(Object.entries(misuses))('%s is refused before anything is sent', async (_name, misuse) => {
    await using house = await open();
    const refused = await refusalOf(misuse(house));
    expect(refused.code).toBe('secret-misplaced');
    expect(refused.message).toMatch(/stands for no secret of this call|It is bound to the (header|query parameter) /);
    expect([...house.web.seen, ...house.other.seen]).toEqual([]);
    expect(JSON.stringify(refused)).not.toContain(value);
  });

  it('of a host that is not granted is refused for that', async () => {
    await using house = await open({ grant: { env: ['KEY'] } });
    const refused = await refusalOf(house.fetch(house.url, { headers: [['x-key', house.placeholder('KEY')]] }));
    expect(refused.code).toBe('permission-denied');
  });
});
