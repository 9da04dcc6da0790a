import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { quotas } from '../../src/config/quotas.ts';
import { createAuthenticator } from '../../src/http/admission/auth.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { type Door, openDoor, readJson } from './door-parts.ts';

let door: Door;
let ends: Array<() => unknown> = [];
beforeAll(async () => {
  door = await openDoor();
});
afterEach(() => {
  for (const end of ends) end();
  ends = [];
});
afterAll(() => door.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function makeKey(): Promise<string> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  return (await readJson(await door.fetch('/api/keys', init))).key;
}

/** Opens a WebSocket; resolves with it, or with the status of the refusal. */
async function openSocket(headers: Record<string, string> = {}): Promise<WebSocket | number> {
  const socket = new WebSocket(`${door.url.replace('http', 'ws')}/ws`, { headers });
  ends.push(() => socket.terminate());
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket | number>();
  socket.once('open', () => resolve(socket));
  socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
  socket.once('error', reject);
  return promise;
}

async function requireSocket(headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = await openSocket(headers);
  if (typeof socket === 'number') throw new Error(`refused with ${socket}`);
  return socket;
}

/** Asks over a WebSocket on which nothing else is under way. */
async function ask(socket: WebSocket, method: string, params?: unknown): Promise<ReturnType<typeof JSON.parse>> {
  const answered = once(socket, 'message');
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  return JSON.parse(String((await answered)[0]));
}

/** Opens a stream of events and leaves it open; resolves with the status. */
async function openStream(token: string): Promise<number> {
  const controller = new AbortController();
  ends.push(() => controller.abort());
  return (await door.fetch('/api/events', { headers: bearer(token), signal: controller.signal })).status;
}

async function openRaw(text: string): Promise<Socket> {
  const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
  ends.push(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const makeTicket = async (token: string) => (await door.fetch('/api/tickets', { method: 'POST', headers: bearer(token) })).status;
const count = (items: readonly unknown[], wanted: unknown) => items.filter((item) => item === wanted).length;

describe('what one caller and strangers can hold of the doors', () => {
  it('leaves the operator all that is needed, whatever they hold at once', async () => {
    const key = await makeKey();
    const strangers = await inBatches(300, () => openSocket());
    const streams = await inBatches(256, () => openStream(key));
    const sockets = await inBatches(300, () => openSocket(bearer(key)));
    // Few enough to be asked for within the time that the first one is good for, whose end gives its place back.
    const tickets = await Promise.all(Array.from({ length: 100 }, () => makeTicket(key)));

    expect(strangers.every((each) => typeof each === 'object')).toBe(true);
    expect([count(streams, 200), count(streams, 429)]).toEqual([32, 224]);
    expect([sockets.filter((each) => typeof each === 'object').length, count(sockets, 429)]).toEqual([32, 268]);
    expect([count(tickets, 200), count(tickets, 429)]).toEqual([64, 36]);

    for (let turn = 0; turn < 8; turn++) {
      expect(await openStream(door.token)).toBe(200);
      expect(await makeTicket(door.token)).toBe(200);
      expect(await ask(await requireSocket(bearer(door.token)), 'status.show')).toMatchObject({ result: { version: '9.9.9' } });
      const unnamed = await requireSocket();
      expect(await ask(unnamed, 'auth', { token: door.token })).toMatchObject({ result: { caller: { id: 'local' } } });
      expect(await ask(unnamed, 'events.subscribe', {})).toMatchObject({ result: { subscription: 'sub_1' } });
    }
    expect((await door.fetch('/api/status')).status).toBe(200);
  });

  it('ends the oldest WebSockets that did not say who they are, and keeps the others', async () => {
    const { inAll } = quotas['door.anonymousSockets'];
    const first = await requireSocket();
    const closed = once(first, 'close');
    for (let opened = 0; opened < inAll; opened++) await requireSocket();
    expect([1006, 4429]).toContain((await closed)[0]);
    const known = await requireSocket();
    expect(await ask(known, 'auth', { token: await makeKey() })).toHaveProperty('result');
    for (let opened = 0; opened < inAll; opened++) await requireSocket();
    expect(await ask(known, 'status.show')).toHaveProperty('result');
  });

  it('refuses auth where the caller has its sockets already, and gives a place back with each that closes', async () => {
    const key = await makeKey();
    const own = await Promise.all(Array.from({ length: quotas['door.sockets'].perCaller }, () => requireSocket(bearer(key))));
    const late = await requireSocket();
    expect(await ask(late, 'auth', { token: key })).toMatchObject({ error: { data: { code: 'rate-limited' } } });
    expect(await ask(late, 'status.show')).toMatchObject({ error: { data: { code: 'unauthenticated' } } });
    own[0]?.terminate();
    await expect.poll(() => ask(late, 'auth', { token: key }), { timeout: 20_000 }).toHaveProperty('result');
  });

  it('bounds the subscriptions of a caller over all of its connections', async () => {
    const key = await makeKey();
    const { perCaller, each } = quotas['door.subscriptions'];
    for (let opened = 0; opened < perCaller / each.max; opened++) {
      const socket = await requireSocket(bearer(key));
      for (let made = 0; made < each.max; made++) expect(await ask(socket, 'events.subscribe', {})).toHaveProperty('result');
      expect(await ask(socket, 'events.subscribe', {})).toMatchObject({ error: { data: { code: 'rate-limited' } } });
    }
    const other = await requireSocket(bearer(key));
    expect(await ask(other, 'events.subscribe', {})).toMatchObject({ error: { data: { code: 'rate-limited' } } });
  });

  it.each([
    ['declared', '/api/tools/echo/call', 'Content-Length: 16777216', 5],
    ['in chunks', '/api/tools/echo/call', 'Transfer-Encoding: chunked', 5],
    ['declared by clients of models', '/v1/chat/completions', 'Content-Length: 33554432', 3],
    ['in chunks by clients of models', '/v1/chat/completions', 'Transfer-Encoding: chunked', 3],
  ])('refuses bodies %s beyond the share before it reads them, not the operator’s', async (_who, path, header, sends) => {
    const key = await makeKey();
    const head = (token: string) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${header}\r\n\r\n`;
    const firstLine = async (socket: Socket) => String((await once(socket, 'data'))[0]).split('\r\n', 1)[0];
    const sent = await Promise.all(Array.from({ length: sends }, () => openRaw(head(key))));
    expect(await Promise.race(sent.map(firstLine))).toContain(' 429 ');
    const text = 'x'.repeat(500_000);
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { text } }),
    };
    expect((await door.fetch('/api/tools/echo/call', init)).status).toBe(200);
    for (const socket of sent) socket.destroy();
    const retry = async () =>
      (await door.fetch('/api/tools/echo/call', { ...init, headers: { ...init.headers, ...bearer(key) } })).status;
    await expect.poll(retry, { timeout: 20_000 }).toBe(200);
  });

  it('bounds what the messages of a caller hold while they come in', async () => {
    const key = await makeKey();
    const closed = Promise.withResolvers<number>();
    for (let opened = 0; opened < 6; opened++) {
      const socket = await requireSocket(bearer(key));
      socket.on('error', () => {});
      socket.once('close', (code) => closed.resolve(code));
      // All but the end of a message, so that nobody can answer it.
      socket.send('x'.repeat(15 * 1024 * 1024), { fin: false });
    }
    expect([1006, 4429]).toContain(await closed.promise);
    expect(
      await ask(await requireSocket(bearer(door.token)), 'tools.call', { ref: 'echo', arguments: { text: 'x'.repeat(500_000) } }),
    ).toHaveProperty('result');
  });

  it('ends a stranger who sends much without an end', async () => {
    const socket = await requireSocket();
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    socket.send('x'.repeat(100_000), { fin: false });
    // Not because it took too long: its farewell may be lost, but it is never that one.
    expect(['', 'authenticate first']).toContain(String((await closed)[1]));
  });

  it('bounds the requests under way on one connection', async () => {
    const socket = await requireSocket(bearer(await makeKey()));
    const { max } = quotas['door.requests'].each;
    const refusal = once(socket, 'message');
    for (let id = 0; id <= max; id++) {
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools.call', params: { ref: 'waits' } }));
    }
    expect(JSON.parse(String((await refusal)[0]))).toMatchObject({ id: max, error: { data: { code: 'rate-limited' } } });
    socket.send(
      JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', method: 'rpc.cancel', params: { id } }))),
    );
  });

  it('closes the oldest connections of strangers, and never the door', async () => {
    const known = await openRaw(`GET /api/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${door.token}\r\n\r\n`);
    await once(known, 'data');
    const first = await openRaw('');
    const closed = once(first, 'close');
    let said = '';
    first.on('data', (chunk) => {
      said += chunk;
    });
    for (let opened = 0; opened < quotas['door.anonymous'].inAll; opened++) await openRaw('GET /api/status HTT');
    await closed;
    // Without a word: what ends at the end of its own time is told so.
    expect(said).toBe('');
    expect(known.readyState).toBe('open');
    expect((await door.fetch('/api/status')).status).toBe(200);
  });
});

describe('a WebSocket whose client is gone', () => {
  it('is closed when it leaves a ping without an answer, and one that answers stays', async () => {
    const server = await startHttpServer({
      config: { host: '127.0.0.1', port: 0, http: { allowedHosts: [] } },
      operations: [],
      events: door.events,
      ...createAuthenticator({ dataDir: door.cwd, env: {}, keys: door.keys }),
      log: pino({ level: 'silent' }),
      version: '0.0.0',
      pingEveryMs: 500,
    });
    ends.push(() => server.close());
    const alive = new WebSocket(`${server.url.replace('http', 'ws')}/ws`);
    await once(alive, 'open');
    const gone = new WebSocket(`${server.url.replace('http', 'ws')}/ws`, { autoPong: false });
    await once(gone, 'open');
    await once(gone, 'close');
    expect(alive.readyState).toBe(WebSocket.OPEN);
  });
});

/** More at once than a listening socket has room for would be lost on a busy machine before the daemon sees them. */
async function inBatches<Made>(count: number, make: () => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  while (made.length < count) {
    made.push(...(await Promise.all(Array.from({ length: Math.min(50, count - made.length) }, make))));
  }
  return made;
}
