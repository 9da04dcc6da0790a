import { once } from 'node:events';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createUser } from '../capability-user.ts';
import { createFetching, refusalOf } from './fetching.ts';
import { selfSigned } from './self-signed.ts';
import { startWebServer } from './web-server.ts';

const grant = { net: ['127.0.0.1'] };

describe('createFetch', () => {
  it('answers status, headers in full and the bytes', async () => {
    await using server = await startWebServer((_request, response) => {
      response.writeHead(
        418,
        'Short and stout',
        [
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
          ['x-kind', 'teapot'],
        ].flat(),
      );
      response.end(Buffer.from([0, 255, 10]));
    });
    await using web = createFetching();
    const fetched = await web.fetch(`http://127.0.0.1:${server.port}/a%20b?c=d#e`, { grant });
    expect(fetched).toMatchObject({
      status: 418,
      statusText: 'Short and stout',
      redirected: false,
      truncated: false,
      bytes: 3,
      url: `http://127.0.0.1:${server.port}/a%20b?c=d`,
    });
    expect(fetched.headers).toEqual(
      expect.arrayContaining([
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
        ['x-kind', 'teapot'],
      ]),
    );
    expect(server.seen[0]).toMatchObject({
      path: '/a%20b?c=d',
      headers: { host: `127.0.0.1:${server.port}`, accept: '*/*', 'accept-encoding': 'gzip, br, zstd', 'user-agent': 'hotcell' },
    });
  });

  it('notes every use and every denial', async () => {
    await using server = await startWebServer((_request, response) => void response.end());
    await using web = createFetching();
    const user = createUser(grant);
    await web.fetch(`http://127.0.0.1:${server.port}/`, user);
    user.grant({});
    await refusalOf(web.fetch(`http://127.0.0.1:${server.port}/`, user));
    expect(user.uses).toEqual([
      ['net', `127.0.0.1:${server.port}`, true],
      ['net', `127.0.0.1:${server.port}`, false],
    ]);
  });

  it.each([
    ['gzip', gzipSync('plain text')],
    ['x-gzip', gzipSync('plain text')],
    ['deflate', deflateSync('plain text')],
    ['br', brotliCompressSync('plain text')],
    ['zstd', zstdCompressSync('plain text')],
    ['gzip, br', brotliCompressSync(gzipSync('plain text'))],
    ['identity', Buffer.from('plain text')],
    ['made-up', Buffer.from('plain text')],
  ])('decodes %s', async (coding, bytes) => {
    await using server = await startWebServer(
      (_request, response) => void response.writeHead(200, { 'content-encoding': coding }).end(bytes),
    );
    await using web = createFetching();
    expect(await web.fetch(`http://127.0.0.1:${server.port}/`, { grant })).toMatchObject({
      text: 'plain text',
      truncated: false,
    });
  });

  it('unpacks no answer that is packed again and again', async () => {
    await using server = await startWebServer(
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip, br, gzip, deflate' }).end('x'),
    );
    await using web = createFetching();
    const asked = web.fetch(`http://127.0.0.1:${server.port}/`, { grant: { net: ['127.0.0.1'] } });
    expect(await refusalOf(asked)).toMatchObject({
      code: 'network-failed',
      message: expect.stringContaining('more than 3 times'),
    });
  });

  it('says that a body cannot be decoded', async () => {
    await using server = await startWebServer(
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
    );
    await using web = createFetching();
    const refusal = await refusalOf(web.fetch(`http://127.0.0.1:${server.port}/`, { grant }));
    expect(refusal).toMatchObject({
      code: 'network-failed',
      message: `127.0.0.1:${server.port} sent a body that cannot be decoded.`,
    });
  });

  it('takes no body from HEAD, 204 and 304 whatever their headers say', async () => {
    await using server = await startWebServer((request, response) => {
      response.writeHead(Number(request.path.slice(1)), { 'content-encoding': 'gzip' }).end();
    });
    await using web = createFetching();
    for (const [status, method] of [
      [200, 'HEAD'],
      [204, 'GET'],
      [304, 'GET'],
      [200, 'GET'],
    ] as const) {
      expect(await web.fetch(`http://127.0.0.1:${server.port}/${status}`, { grant }, { method })).toMatchObject({
        status,
        bytes: 0,
      });
    }
  });

  it('cuts a body at the limit and says so', async () => {
    await using server = await startWebServer(
      (request, response) => void response.end(Buffer.alloc(Number(request.path.slice(1)), 'x')),
    );
    await using web = createFetching({}, { maxResponseBytes: 1000 });
    const url = `http://127.0.0.1:${server.port}`;
    expect(await web.fetch(`${url}/1000`, { grant })).toMatchObject({ bytes: 1000, truncated: false });
    expect(await web.fetch(`${url}/1001`, { grant })).toMatchObject({ bytes: 1000, truncated: true });
    expect(await web.fetch(`${url}/5000000`, { grant })).toMatchObject({ bytes: 1000, truncated: true });
  });

  it('cuts what a small body unpacks to, and an endless one', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    await using server = await startWebServer((request, response) => {
      response.writeHead(200, request.path === '/bomb' ? { 'content-encoding': 'gzip' } : {});
      if (request.path === '/bomb') response.end(bomb);
      else {
        const pour = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', pour);
        pour();
      }
    });
    await using web = createFetching({}, { maxResponseBytes: 100_000 });
    expect(await web.fetch(`http://127.0.0.1:${server.port}/bomb`, { grant })).toMatchObject({ bytes: 100_000, truncated: true });
    expect(await web.fetch(`http://127.0.0.1:${server.port}/endless`, { grant })).toMatchObject({
      bytes: 100_000,
      truncated: true,
    });
  });

  it('lets any number of requests wait without waiting for each other', async () => {
    const held: (() => void)[] = [];
    await using server = await startWebServer((_request, response) => {
      held.push(() => response.end('now'));
      if (held.length === 300) for (const release of held) release();
    });
    await using web = createFetching();
    const all = Array.from({ length: 300 }, () => web.fetch(`http://127.0.0.1:${server.port}/`, { grant }));
    expect(new Set((await Promise.all(all)).map((fetched) => fetched.text))).toEqual(new Set(['now']));
  });

  it('refuses a body for GET, and one that is too large', async () => {
    await using web = createFetching();
    expect((await refusalOf(web.fetch('http://127.0.0.1/', { grant }, { body: 'x' }))).code).toBe('arguments-invalid');
    const large = { method: 'POST', body: 'x'.repeat(17 * 1024 * 1024) };
    expect((await refusalOf(web.fetch('http://127.0.0.1/', { grant }, large))).code).toBe('payload-too-large');
  });

  it('ends with the deadline when the answer stays out, before or within the body', async () => {
    await using server = await startWebServer((request, response) => {
      if (request.path === '/body') response.writeHead(200).write('half');
    });
    await using web = createFetching({}, { timeoutMs: 150 });
    for (const path of ['/headers', '/body']) {
      const refusal = await refusalOf(web.fetch(`http://127.0.0.1:${server.port}${path}`, { grant }));
      expect(refusal.code).toBe('network-failed');
      expect(refusal.message).toContain('did not answer');
    }
  });

  it('ends with its call', async () => {
    const controller = new AbortController();
    await using server = await startWebServer(() => controller.abort());
    await using web = createFetching();
    const url = `http://127.0.0.1:${server.port}/`;
    expect((await refusalOf(web.fetch(url, { grant }, { signal: controller.signal }))).code).toBe('cancelled');
    expect((await refusalOf(web.fetch(url, { grant }, { signal: controller.signal }))).code).toBe('cancelled');
    expect(server.seen).toHaveLength(1);
  });

  it('says who refused a connection, without the words of a library', async () => {
    const server = await startWebServer(() => {});
    await server[Symbol.asyncDispose]();
    await using web = createFetching();
    expect(await refusalOf(web.fetch(`http://127.0.0.1:${server.port}/`, { grant }))).toMatchObject({
      code: 'network-failed',
      message: `127.0.0.1:${server.port} refused the connection.`,
    });
  });

  it('keeps sockets apart between callers and uses them again within one', async () => {
    const ports: (number | undefined)[] = [];
    await using server = await startWebServer((_request, response) => {
      ports.push(response.socket?.remotePort);
      response.end('ok');
    });
    await using web = createFetching();
    const url = `http://127.0.0.1:${server.port}/`;
    for (const caller of ['ann', 'ann', 'ann', 'ann', 'bob']) await web.fetch(url, createUser(grant, { caller }));
    const [bob, ...ann] = ports.reverse();
    expect(new Set(ann).size).toBeLessThan(ann.length);
    expect(ann).not.toContain(bob);
  });

  it('names the host to TLS, connects to the checked address, and believes no certificate that nobody vouches for', async () => {
    const server = createServer(selfSigned);
    const named: (string | false | null)[] = [];
    server.on('tlsClientError', (_error, socket: TLSSocket) => named.push(socket.servername));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await using web = createFetching({ 'secure.test': ['127.0.0.1'] });
    const failed = once(server, 'tlsClientError');
    const refusal = await refusalOf(web.fetch(`https://secure.test:${port}/`, { grant: { net: ['secure.test', '127.0.0.1'] } }));
    await failed;
    expect(refusal).toMatchObject({
      code: 'network-failed',
      message: `secure.test:${port} has a certificate that nobody vouches for.`,
    });
    expect(named).toEqual(['secure.test']);
    server.close();
  });

  it.each([
    ['{'],
    ['{}'],
    ['{"url":1}'],
    ['{"url":"http://a.com","redirect":"maybe"}'],
    ['{"url":"http://a.com","headers":{"a":"b"}}'],
  ])('refuses the payload %s', async (payload) => {
    const { createFetch } = await import('../../../src/capabilities/fetch.ts');
    const capability = createFetch({ network: { maxResponseBytes: 1, timeoutMs: 1, maxRedirects: 1 } });
    const answer = capability.operations.fetch({ op: 'fetch', payload }, createUser(), new AbortController().signal);
    expect((await refusalOf(answer)).code).toBe('arguments-invalid');
    await capability.close();
  });
});
