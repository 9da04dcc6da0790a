import { describe, expect, it } from 'vitest';
import { createUser } from '../capability-user.ts';
import { createFetching, refusalOf, wrapFetch } from './fetching.ts';
import { startWebServer } from './web-server.ts';

// Attacks of the kind "server-side request forgery", on real sockets. Every refusal has a twin that a grant lets through.

const hello = () => startWebServer((_request, response) => void response.end('hello'));

describe('fetch and special addresses', () => {
  it.each([
    ['dotted', '127.0.0.1'],
    ['decimal', '2130706433'],
    ['hexadecimal', '0x7f000001'],
    ['octal', '0177.0.0.1'],
    ['short', '127.1'],
    ['mixed', '0x7f.0.1'],
    ['full-width digits', '１２７.０.０.１'],
    ['encoded', '%31%32%37.0.0.1'],
    ['with a trailing dot', '127.0.0.1.'],
  ])('takes a loopback address written %s as what it is', async (_form, host) => {
    await using server = await hello();
    await using web = createFetching();
    const url = `http://${host}:${server.port}/`;
    expect(await refusalOf(web.fetch(url, { grant: { net: ['*.example.com'] } }))).toEqual({
      code: 'permission-denied',
      message: `Tool "weather" may not reach 127.0.0.1:${server.port}.`,
      fix: `Allow it with: hotcell grant weather net=127.0.0.1:${server.port}`,
    });
    expect(server.seen).toEqual([]);
    expect(await web.fetch(url, { grant: { net: [`127.0.0.1:${server.port}`] } })).toMatchObject({ status: 200, text: 'hello' });
    expect(await web.fetch(url, { grant: { net: ['127.0.0.1'] } })).toMatchObject({ text: 'hello' });
  });

  it('does not take IPv4 inside IPv6 as the IPv4 address that was granted', async () => {
    await using server = await hello();
    await using web = createFetching();
    const url = `http://[::ffff:127.0.0.1]:${server.port}/`;
    expect((await refusalOf(web.fetch(url, { grant: { net: ['127.0.0.1'] } }))).code).toBe('permission-denied');
    expect(await web.fetch(url, { grant: { net: [`[::ffff:7f00:1]:${server.port}`] } })).toMatchObject({ text: 'hello' });
  });

  it('reaches IPv6 loopback only by name', async () => {
    await using server = await startWebServer((_request, response) => void response.end('six'), '::1');
    await using web = createFetching();
    const url = `http://[0:0:0:0:0:0:0:1]:${server.port}/`;
    expect((await refusalOf(web.fetch(url, { grant: { net: ['127.0.0.1', 'localhost'] } }))).code).toBe('permission-denied');
    expect(await web.fetch(url, { grant: { net: ['[::1]'] } })).toMatchObject({ text: 'six' });
  });

  it('refuses a zone', async () => {
    await using web = createFetching({ 'zone.test': ['fe80::1%eth0'] });
    expect((await refusalOf(web.fetch('http://[fe80::1%25eth0]/', { grant: { net: ['[fe80::1]'] } }))).code).toBe(
      'network-refused',
    );
    expect((await refusalOf(web.fetch('http://zone.test/', { grant: { net: ['zone.test', '[fe80::1]'] } }))).code).toBe(
      'network-refused',
    );
  });

  it('refuses a granted name that turns out to be private, until the address is granted too', async () => {
    await using server = await hello();
    await using web = createFetching({ 'inside.example.com': ['127.0.0.1'] });
    const url = `http://inside.example.com:${server.port}/`;
    const user = createUser({ net: ['inside.example.com', '*.example.com'] });
    const refusal = await refusalOf(web.fetch(url, user));
    expect(refusal.code).toBe('network-refused');
    expect(refusal.message).toBe(`Tool "weather" may not reach inside.example.com:${server.port}: its address is this machine.`);
    expect(refusal.message).not.toContain('127.0.0.1');
    expect(user.uses).toEqual([['net', `inside.example.com:${server.port} at 127.0.0.1 (this machine)`, false]]);
    user.grant({ net: ['inside.example.com', '127.0.0.1'] });
    expect(await web.fetch(url, user)).toMatchObject({ text: 'hello' });
    expect(user.uses.at(-1)).toEqual(['net', `inside.example.com:${server.port}`, true]);
  });

  it('refuses a name when a single one of its addresses is private', async () => {
    await using web = createFetching({ 'mixed.test': ['8.8.8.8', '10.0.0.1'], 'none.test': [] });
    expect((await refusalOf(web.fetch('http://mixed.test/', { grant: { net: ['mixed.test'] } }))).code).toBe('network-refused');
    expect((await refusalOf(web.fetch('http://none.test/', { grant: { net: ['none.test'] } }))).code).toBe('network-failed');
  });

  it('lets localhost be this machine when it is named, and nothing else', async () => {
    await using server = await hello();
    await using web = createFetching({ localhost: ['127.0.0.1'], 'app.localhost': ['10.0.0.1'] });
    const url = `http://LOCALHOST.:${server.port}/`;
    expect((await refusalOf(web.fetch(url, { grant: { net: ['*.localhost.test'] } }))).code).toBe('permission-denied');
    expect(await web.fetch(url, { grant: { net: ['localhost'] } })).toMatchObject({
      text: 'hello',
      url: `http://localhost:${server.port}/`,
    });
    expect((await refusalOf(web.fetch('http://app.localhost/', { grant: { net: ['app.localhost'] } }))).code).toBe(
      'network-refused',
    );
  });

  it.each(['169.254.169.254', '100.100.100.200', '168.63.129.16', '[fd00:ec2::254]', '0.0.0.0', '[::]'])(
    'keeps cloud metadata at %s away from a name that points there',
    async (address) => {
      await using web = createFetching({ 'meta.test': [address.replace(/[[\]]/g, '')] });
      expect((await refusalOf(web.fetch('http://meta.test/', { grant: { net: ['meta.test'] } }))).code).toBe('network-refused');
      expect((await refusalOf(web.fetch(`http://${address}/`, { grant: { net: ['meta.test'] } }))).code).toBe(
        'permission-denied',
      );
    },
  );
});

describe('fetch and names that change', () => {
  it('connects to the address that was checked, whatever the name means a moment later', async () => {
    await using trap = await startWebServer((_request, response) => void response.end('trap'), '127.0.0.2');
    await using server = await startWebServer((_request, response) => void response.end('checked'), '127.0.0.1');
    let asked = 0;
    await using web = wrapFetch(async () => [asked++ === 0 ? '127.0.0.1' : '127.0.0.2']);
    const grant = { net: ['rebind.test', '127.0.0.1'] };
    const url = `http://rebind.test:${server.port}/`;
    expect(await web.fetch(url, { grant })).toMatchObject({ text: 'checked' });
    expect(asked).toBe(1);
    // The second request resolves anew, is checked anew, and does not ride on the first one's socket.
    expect((await refusalOf(web.fetch(url, { grant }))).code).toBe('network-refused');
    expect(asked).toBe(2);
    expect(trap.seen).toEqual([]);
    expect(server.seen).toHaveLength(1);
  });

  it('tries no name that has more addresses than a service has', async () => {
    await using server = await startWebServer((_request, response) => void response.end('x'), '127.0.0.1');
    await using web = wrapFetch(async () => Array.from({ length: 65 }, () => '127.0.0.1'));
    const asked = web.fetch(`http://many.test:${server.port}/`, { grant: { net: ['many.test', '127.0.0.1'] } });
    expect((await refusalOf(asked)).code).toBe('network-failed');
    expect(server.seen).toEqual([]);
  });

  it('sees a grant that is taken back while the name is resolved', async () => {
    await using server = await hello();
    const user = createUser({ net: ['slow.test', '127.0.0.1'] });
    await using web = wrapFetch(async () => {
      user.grant({});
      return ['127.0.0.1'];
    });
    expect((await refusalOf(web.fetch(`http://slow.test:${server.port}/`, user))).code).toBe('permission-denied');
    expect(server.seen).toEqual([]);
  });

  it('tries the checked addresses one after the other', async () => {
    await using server = await hello();
    await using web = createFetching({ 'two.test': ['127.0.0.3', '127.0.0.1'] });
    const grant = { net: ['two.test', '127.0.0.1', '127.0.0.3'] };
    expect(await web.fetch(`http://two.test:${server.port}/`, { grant })).toMatchObject({ text: 'hello' });
  });
});

describe('fetch and odd URLs', () => {
  it.each([
    ['file:///etc/passwd', 'does not open file:'],
    ['data:text/plain,hi', 'does not open data:'],
    ['ftp://127.0.0.1/', 'does not open ftp:'],
    ['javascript:alert(1)', 'does not open javascript:'],
    ['blob:http://127.0.0.1/x', 'does not open blob:'],
    ['http://user@127.0.0.1/', 'user-info'],
    ['http://example.com:pass@127.0.0.1/', 'user-info'],
    ['http://:p@127.0.0.1/', 'user-info'],
    ['/relative', 'absolute URL'],
    ['http://', 'absolute URL'],
    ['http://a b/', 'absolute URL'],
    ['http://127.0.0.1:99999/', 'absolute URL'],
    [`http://127.0.0.1/${'a'.repeat(20_000)}`, 'absolute URL'],
  ])('refuses %s', async (url, reason) => {
    await using web = createFetching();
    const refusal = await refusalOf(web.fetch(url, { grant: { net: ['127.0.0.1', 'example.com'] } }));
    expect(refusal.code).toBe('network-refused');
    expect(refusal.message).toContain(reason);
  });

  it('goes to the host after the last @ trick and backslashes, as the URL standard reads it', async () => {
    await using web = createFetching();
    const refusal = await refusalOf(web.fetch('http://127.0.0.1\\@example.com/', { grant: { net: ['example.com'] } }));
    expect(refusal.message).toContain('may not reach 127.0.0.1');
  });

  it('knows an international name by its one ASCII form', async () => {
    await using server = await hello();
    await using web = createFetching({ 'xn--bcher-kva.test': ['127.0.0.1'] });
    const url = `http://BÜCHER.test:${server.port}/`;
    expect((await refusalOf(web.fetch(url, { grant: { net: ['bucher.test'] } }))).code).toBe('permission-denied');
    expect(await web.fetch(url, { grant: { net: ['bücher.test', '127.0.0.1'] } })).toMatchObject({ text: 'hello' });
    expect(server.seen[0]?.headers.host).toBe(`xn--bcher-kva.test:${server.port}`);
  });

  it('keeps to the port of a grant', async () => {
    await using server = await hello();
    await using web = createFetching();
    const url = `http://127.0.0.1:${server.port}/`;
    expect((await refusalOf(web.fetch(url, { grant: { net: ['127.0.0.1:1'] } }))).code).toBe('permission-denied');
  });

  it('opens ports of other protocols only when the grant names the port', async () => {
    await using web = createFetching();
    expect((await refusalOf(web.fetch('http://127.0.0.1:6667/', { grant: { net: ['127.0.0.1'] } }))).code).toBe(
      'network-refused',
    );
    expect((await refusalOf(web.fetch('http://127.0.0.1:6667/', { grant: { net: ['127.0.0.1:6667'] } }))).code).toBe(
      'network-failed',
    );
  });
});

describe('fetch and redirects', () => {
  it.each(['http://10.0.0.1/', 'http://169.254.169.254/latest/', 'http://[::1]/', '//2130706434/', 'http://other.test/'])(
    'checks a redirect to %s like a request of its own',
    async (location) => {
      await using server = await startWebServer((_request, response) => void response.writeHead(302, { location }).end());
      await using web = createFetching({ 'other.test': ['127.0.0.1'] });
      const user = createUser({ net: ['127.0.0.1'] });
      expect((await refusalOf(web.fetch(`http://127.0.0.1:${server.port}/`, user))).code).toBe('permission-denied');
      expect(user.uses.map(([, , allowed]) => allowed)).toEqual([true, false]);
    },
  );

  it.each(['file:///etc/passwd', 'data:,x', 'http://user:pw@127.0.0.1/', 'gopher://127.0.0.1/'])(
    'refuses a redirect to %s',
    async (location) => {
      await using server = await startWebServer((_request, response) => void response.writeHead(307, { location }).end());
      await using web = createFetching();
      expect((await refusalOf(web.fetch(`http://127.0.0.1:${server.port}/`, { grant: { net: ['127.0.0.1'] } }))).code).toBe(
        'network-refused',
      );
    },
  );

  it('follows where the grant allows it, and drops credentials between origins', async () => {
    await using target = await startWebServer((_request, response) => void response.end('there'));
    await using server = await startWebServer(
      (_request, response) => void response.writeHead(302, { location: `http://127.0.0.1:${target.port}/end?x#frag` }).end(),
    );
    await using web = createFetching();
    const fetched = await web.fetch(
      `http://127.0.0.1:${server.port}/start`,
      { grant: { net: ['127.0.0.1'] } },
      {
        method: 'POST',
        body: 'secret',
        headers: [
          ['Authorization', 'Bearer t'],
          ['Cookie', 'a=b'],
          ['X-Other', 'stays'],
          ['Content-Type', 'text/plain'],
        ],
      },
    );
    expect(fetched).toMatchObject({ text: 'there', redirected: true, url: `http://127.0.0.1:${target.port}/end?x` });
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      body: 'secret',
      headers: { authorization: 'Bearer t', cookie: 'a=b' },
    });
    expect(target.seen[0]).toMatchObject({ method: 'GET', body: '', headers: { 'x-other': 'stays' } });
    expect(Object.keys(target.seen[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(['authorization']));
    expect(target.seen[0]?.headers).not.toHaveProperty('cookie');
    expect(target.seen[0]?.headers).not.toHaveProperty('content-type');
  });

  it('keeps credentials, method and body within an origin on 307', async () => {
    await using server = await startWebServer((request, response) => {
      if (request.path === '/a') response.writeHead(307, { location: '/b' }).end();
      else response.end(request.body);
    });
    await using web = createFetching();
    const fetched = await web.fetch(
      `http://127.0.0.1:${server.port}/a`,
      { grant: { net: ['127.0.0.1'] } },
      {
        method: 'put',
        body: 'kept',
        headers: [['authorization', 'x']],
      },
    );
    expect(fetched.text).toBe('kept');
    expect(server.seen[1]).toMatchObject({ method: 'PUT', headers: { authorization: 'x' } });
  });

  it('ends a loop, and leaves a redirect to the guest on demand', async () => {
    await using server = await startWebServer(
      (_request, response) => void response.writeHead(302, { location: '/again' }).end('look'),
    );
    await using web = createFetching({}, { maxRedirects: 3 });
    const url = `http://127.0.0.1:${server.port}/`;
    const grant = { net: ['127.0.0.1'] };
    expect((await refusalOf(web.fetch(url, { grant }))).message).toContain('after 3 redirects');
    expect(server.seen).toHaveLength(4);
    expect((await refusalOf(web.fetch(url, { grant }, { redirect: 'error' }))).code).toBe('network-failed');
    expect(await web.fetch(url, { grant }, { redirect: 'manual' })).toMatchObject({
      status: 302,
      text: 'look',
      redirected: false,
    });
  });
});
