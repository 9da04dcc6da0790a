import { describe, expect, it } from 'vitest';
import { createFetching, refusalOf } from './fetching.ts';
import { startWebServer } from './web-server.ts';

const hello = () => startWebServer((_request, response) => void response.end('hello'));

describe('checkRequestHeaders', () => {
  const names =
    'Host Connection content-length Transfer-Encoding upgrade TE trailer keep-alive Proxy-Authorization proxy-connection cookie2 expect';

  it.each(names.split(' '))('refuses the header %s', async (name) => {
    await using server = await hello();
    await using web = createFetching();
    const refusal = await refusalOf(
      web.fetch(`http://127.0.0.1:${server.port}/`, { grant: { net: ['127.0.0.1'] } }, { headers: [[name, 'x']] }),
    );
    expect(refusal.code).toBe('network-refused');
    expect(refusal.message).toContain(name.toLowerCase());
    expect(server.seen).toEqual([]);
  });

  it('refuses more headers than anybody needs', async () => {
    await using server = await hello();
    await using web = createFetching();
    const headers = Array.from({ length: 129 }, (_, index): [string, string] => [`x-${index}`, 'y']);
    const asked = web.fetch(`http://127.0.0.1:${server.port}/`, { grant: { net: ['127.0.0.1'] } }, { headers });
    expect((await refusalOf(asked)).message).toContain('at most 128 headers');
    expect(server.seen).toEqual([]);
  });

  it.each([
    ['x-a', 'b\r\nx-injected: 1'],
    ['x-a', 'b\ninjected'],
    ['x-a', 'b\0'],
    ['x-a', 'snow☃'],
    ['x-a\r\nhost', 'b'],
    ['x a', 'b'],
    ['', 'b'],
    ['x-a:', 'b'],
    ['x-a', 'v'.repeat(70_000)],
  ])('refuses %j: %j', async (name, value) => {
    await using server = await hello();
    await using web = createFetching();
    const url = `http://127.0.0.1:${server.port}/`;
    const grant = { net: ['127.0.0.1'] };
    expect((await refusalOf(web.fetch(url, { grant }, { headers: [[name, value]] }))).code).toBe('network-refused');
    expect(server.seen).toEqual([]);
    expect(await web.fetch(url, { grant }, { headers: [['x-a', ' \tcafé\t']] })).toMatchObject({ status: 200 });
    expect(server.seen[0]?.headers['x-a']).toBe('café');
  });

  it.each(['CONNECT', 'trace', 'TRACK', 'GET /x HTTP/1.1', 'G\r\nET', ''])('refuses the method %j', async (method) => {
    await using server = await hello();
    await using web = createFetching();
    const refusal = await refusalOf(web.fetch(`http://127.0.0.1:${server.port}/`, { grant: { net: ['127.0.0.1'] } }, { method }));
    expect(['network-refused', 'arguments-invalid']).toContain(refusal.code);
    expect(server.seen).toEqual([]);
  });
});
