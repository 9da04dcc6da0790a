import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createFetch } from '../../src/capabilities/fetch.ts';
import { createUser } from '../capabilities/capability-user.ts';
import { refusalOf, wrapFetch } from '../capabilities/network/fetching.ts';
import { startWebServer, type WebServer } from '../capabilities/network/web-server.ts';
import { type NetworkCase, networkCases, redirectCases, requestCases, resolveNames, withPort } from './permission-cases.ts';

const hello = (host = '127.0.0.1') => startWebServer((_request, response) => void response.end('hello'), host);
const serve = ({ needsIPv6 }: NetworkCase) => hello(needsIPv6 ? '::1' : '127.0.0.1');

/** Speaks one request over a bare connection. */
async function greet(socket: Duplex): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  const chunks: Uint8Array[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function splitPlace(place: string): { host: string; port: number } {
  const colon = place.lastIndexOf(':');
  return { host: place.slice(0, colon), port: Number(place.slice(colon + 1)) };
}

function openDial({ names }: NetworkCase) {
  const network = { maxResponseBytes: 1000, timeoutMs: 1000, maxRedirects: 1 };
  return createFetch({ network, resolve: resolveNames(names) });
}

const cases = networkCases.map((each) => [each.what, each] as const);

describe('a request to a place that is not granted', () => {
  it.each(cases)('is refused by fetch: %s', async (_what, given) => {
    await using server = await serve(given);
    const { place, granted, expected, allowedBy, names } = withPort(given, server.port);
    await using web = wrapFetch(resolveNames(names), { timeoutMs: 1000 });
    const refusal = await refusalOf(web.fetch(`http://${place}/`, { grant: { net: granted } }));
    expect(refusal.code).toBe(expected);
    expect(server.seen).toEqual([]);
    if (!allowedBy) return;
    // A resolver of its own: the twin begins with the last answer where answers change.
    await using twin = wrapFetch(resolveNames(lastAnswers(names)), { timeoutMs: 1000 });
    expect(await twin.fetch(`http://${place}/`, { grant: { net: allowedBy } })).toMatchObject({ status: 200, text: 'hello' });
  });

  it.each(cases)('is refused to a bare connection: %s', async (_what, given) => {
    await using server = await serve(given);
    const { place, granted, expected, allowedBy, names } = withPort(given, server.port);
    await using stack = new AsyncDisposableStack();
    const refusing = openDial(given);
    stack.defer(() => refusing.close());
    const { signal } = new AbortController();
    const attempt = refusing.dial(splitPlace(place), createUser({ net: granted }), signal);
    expect((await refusalOf(attempt)).code).toBe(expected);
    expect(server.seen).toEqual([]);
    if (!allowedBy) return;
    const twin = openDial({ ...given, names: lastAnswers(names) });
    stack.defer(() => twin.close());
    const socket = await twin.dial(splitPlace(place), createUser({ net: allowedBy }), signal);
    expect(await greet(socket)).toContain('hello');
  });
});

describe('a bare connection', () => {
  it('is closed with its call, and not opened for one that is over', async () => {
    await using server = await hello();
    await using stack = new AsyncDisposableStack();
    const capability = createFetch({
      network: { maxResponseBytes: 1000, timeoutMs: 1000, maxRedirects: 1 },
      resolve: resolveNames(),
    });
    stack.defer(() => capability.close());
    const controller = new AbortController();
    const to = { host: '127.0.0.1', port: server.port };
    const socket = await capability.dial(to, createUser({ net: ['127.0.0.1'] }), controller.signal);
    const closed = once(socket, 'close');
    controller.abort();
    await closed;
    const late = capability.dial(to, createUser({ net: ['127.0.0.1'] }), controller.signal);
    expect((await refusalOf(late)).code).toBe('cancelled');
  });
});

describe('a request that is not what its host says', () => {
  it.each(requestCases.map((each) => [each.what, each] as const))('is refused: %s', async (_what, given) => {
    await using server = await hello();
    const { url, headers, expected } = withPort(given, server.port);
    await using web = wrapFetch(resolveNames());
    const grant = { net: ['127.0.0.1', 'example.com'] };
    const refusal = await refusalOf(web.fetch(url, { grant }, headers ? { headers } : {}));
    expect(refusal.code).toBe(expected);
    expect(server.seen).toEqual([]);
    expect(await web.fetch(`http://127.0.0.1:${server.port}/`, { grant })).toMatchObject({ text: 'hello' });
  });
});

describe('a redirect', () => {
  const redirecting = (location: string): Promise<WebServer> =>
    startWebServer((request, response) => {
      if (request.path === '/there') response.end('hello');
      else response.writeHead(302, { location: location.replace('PORT', request.headers.host?.split(':')[1] ?? '') }).end();
    });

  it.each(redirectCases.map((each) => [each.what, each] as const))('is refused when it leads to %s', async (_what, given) => {
    await using server = await redirecting(given.location);
    await using web = wrapFetch(resolveNames({ localhost: [['127.0.0.1']] }));
    const refusal = await refusalOf(web.fetch(`http://127.0.0.1:${server.port}/`, { grant: { net: ['127.0.0.1'] } }));
    expect(refusal.code).toBe(given.expected);
    expect(server.seen).toHaveLength(1);
  });

  it('is followed to a place that is granted', async () => {
    await using server = await redirecting('http://127.0.0.1:PORT/there');
    await using web = wrapFetch(resolveNames());
    const fetched = await web.fetch(`http://127.0.0.1:${server.port}/`, { grant: { net: ['127.0.0.1'] } });
    expect(fetched).toMatchObject({ text: 'hello', redirected: true });
  });
});

function lastAnswers(names: NetworkCase['names'] = {}): NonNullable<NetworkCase['names']> {
  return Object.fromEntries(Object.entries(names).map(([name, answers]) => [name, answers.slice(-1)]));
}
