import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDestination } from '../../../src/capabilities/network/destination.ts';
import { createNetworkCheck } from '../../../src/capabilities/network/network-check.ts';
import { createUser } from '../../capabilities/capability-user.ts';
import { startSmallDaemon } from '../../small-daemon.ts';
import { serveWeb } from '../web-server.ts';

let daemon: Awaited<ReturnType<typeof startSmallDaemon>>;

beforeAll(async () => {
  daemon = await startSmallDaemon({}, { grantRequested: false, builtins: { tools: ['http_request'] } });
});
afterAll(() => daemon.close());

function grant(net: string): void {
  const { asking } = daemon.parts.units.find('builtin:http_request');
  if (asking === undefined) throw new Error('it is on');
  daemon.parts.grants.create({ asking, permissions: { net: [net] }, scope: { scope: 'always' }, grantedBy: 'local' });
}

const ask = async (args: object) => await daemon.call('http_request', args);

describe('http_request', () => {
  it('sends method, headers and body, and answers status, headers and body', async () => {
    const host = await serveWeb(async (request, response) => {
      const chunks = await request.toArray();
      response.writeHead(201, { 'x-seen': `${request.method} ${request.headers['x-own']} ${request.headers['content-type']}` });
      response.end(Buffer.concat(chunks));
    });
    grant(host);
    const answer = await ask({ method: 'PUT', url: `http://${host}/a`, headers: { 'X-Own': 'yes' }, body: { n: 1 } });
    expect(answer.output).toMatchObject({
      status: 201,
      headers: { 'x-seen': 'PUT yes application/json' },
      body: '{"n":1}',
      truncated: false,
    });
    expect((await ask({ method: 'HEAD', url: `http://${host}/` })).output).toMatchObject({ status: 201, body: '' });
  });

  it.each(['TRACE', 'CONNECT', 'get', 'OPTIONS'])('knows no method %s', async (method) => {
    await expect(ask({ method, url: 'https://example.com' })).rejects.toMatchObject({ code: 'arguments-invalid' });
  });

  it.each([
    'Host',
    'CONNECTION',
    'content-Length',
    'cookie',
    'Set-Cookie',
    'AUTHORIZATION',
    'Authorization ',
    'proxy-Authorization',
    'transfer-encoding',
    'x\r\nhost',
  ])('sends no header %j', async (name) => {
    let isReached = false;
    const host = await serveWeb((_request, response) => {
      isReached = true;
      response.end();
    });
    grant(host);
    expect((await ask({ url: `http://${host}/`, headers: { [name]: 'x' } })).error?.code).toBe('network-refused');
    expect(isReached).toBe(false);
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://localhost/',
    'http://[::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://0x7f.1/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://0.0.0.0/',
    'http://100.100.100.200/',
    'file:///etc/passwd',
    'http://user:password@example.com/',
    'https://8.8.8.8:22/',
  ])('does not reach %s', async (url) => {
    expect((await ask({ url })).error?.code).toBe('network-refused');
  });

  it('answers a redirect and does not follow it', async () => {
    const paths: (string | undefined)[] = [];
    const host = await serveWeb((request, response) => {
      paths.push(request.url);
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    grant(host);
    expect((await ask({ url: `http://${host}/first` })).output).toMatchObject({
      status: 302,
      headers: { location: 'http://169.254.169.254/' },
    });
    expect(paths).toEqual(['/first']);
  });

  it('cuts a body that has no end, and lets go of the connection', async () => {
    const closed = Promise.withResolvers<void>();
    const host = await serveWeb((_request, response) => {
      const piece = Buffer.from('ä'.repeat(32_768));
      const write = () => {
        while (response.write(piece));
        response.once('drain', write);
      };
      response.once('close', () => closed.resolve());
      response.writeHead(200, { 'content-length': String(1024 ** 3) });
      write();
    });
    grant(host);
    const { output } = await ask({ url: `http://${host}/` });
    expect(output).toMatchObject({ status: 200, truncated: true, body: 'ä'.repeat(128_000) });
    await closed.promise;
  });
});

describe('createNetworkCheck', () => {
  const check = createNetworkCheck({
    resolve: async (host) => (host === 'public.example' ? ['93.184.216.34'] : ['93.184.216.34', '10.0.0.7']),
  });
  const user = { ...createUser({}), reachesPublic: true };
  const { signal } = new AbortController();

  it('lets a tool that reaches all public hosts to such addresses alone', async () => {
    expect(await check(parseDestination('https://public.example/'), user, signal)).toMatchObject({
      addresses: ['93.184.216.34'],
    });
    await expect(check(parseDestination('https://mixed.example/'), user, signal)).rejects.toMatchObject({
      code: 'network-refused',
    });
    await expect(check(parseDestination('https://public.example/'), createUser({}), signal)).rejects.toMatchObject({
      code: 'permission-denied',
    });
  });
});

it('reaches granted hosts alone where the config says so', async () => {
  const house = await startSmallDaemon({}, { grantRequested: false, builtins: { tools: ['http_request'], net: 'granted' } });
  const answer = await house.call('http_request', { url: 'https://example.com/' });
  expect(answer.error?.code).toBe('permission-denied');
  expect(answer.error?.message).toContain(`hotcell grant 'builtin:http_request' net=example.com`);
  await house.close();
});
