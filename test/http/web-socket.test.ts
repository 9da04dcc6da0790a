import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Door, openDoor, readJson } from './door-parts.ts';

let door: Door;
beforeAll(async () => {
  door = await openDoor();
});
afterAll(() => door.close());

interface Connection {
  readonly socket: WebSocket;
  send(message: unknown): void;
  next(): Promise<ReturnType<typeof JSON.parse>>;
  ask(method: string, params?: unknown): Promise<ReturnType<typeof JSON.parse>>;
}

async function open(options: { path?: string; headers?: Record<string, string> } = {}): Promise<Connection> {
  const { path = '/ws', headers = { authorization: `Bearer ${door.token}` } } = options;
  const socket = new WebSocket(door.url.replace('http', 'ws') + path, { headers });
  const received: string[] = [];
  const waiting: ((text: string) => void)[] = [];
  socket.on('message', (data) => {
    const text = String(data);
    const take = waiting.shift();
    if (take === undefined) received.push(text);
    else take(text);
  });
  await once(socket, 'open');
  const next = async () => JSON.parse(received.shift() ?? (await new Promise<string>((resolve) => waiting.push(resolve))));
  const send = (message: unknown) => socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  let count = 0;
  return {
    socket,
    send,
    next,
    ask(method, params) {
      send({ jsonrpc: '2.0', id: ++count, method, ...(params === undefined ? {} : { params }) });
      return next();
    },
  };
}

describe('WS /ws', () => {
  it('answers every operation as a method', async () => {
    const connection = await open();
    const answer = await connection.ask('tools.call', { ref: 'echo', arguments: { a: 1 } });
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 1, result: { status: 'success', output: { a: 1 } } });
    const { result } = await connection.ask('rpc.discover');
    expect(result.methods.map((method: { name: string }) => method.name)).toEqual(
      expect.arrayContaining(door.operations.map(({ name }) => name)),
    );
    connection.socket.close();
  });

  it('answers a batch as a batch, and notifications not at all', async () => {
    const connection = await open();
    connection.send([
      { jsonrpc: '2.0', id: 'a', method: 'status.show' },
      { jsonrpc: '2.0', method: 'status.show' },
      { jsonrpc: '2.0', id: 'b', method: 'status.shw' },
      7,
    ]);
    const answers = await connection.next();
    expect(answers).toHaveLength(3);
    expect(answers[0]).toMatchObject({ id: 'a', result: { version: '9.9.9' } });
    expect(answers[1]).toMatchObject({ id: 'b', error: { code: -32601, data: { near: ['status.show'] } } });
    expect(answers[2]).toMatchObject({ id: null, error: { code: -32600 } });
    connection.socket.close();
  });

  it.each([
    ['{', -32700],
    ['[]', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"x"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"tools.get","params":[1]}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"tools.get","params":{}}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"tools.call","params":{"ref":"missing"}}', -32000],
    ['{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
  ])('refuses %s with %i', async (text, code) => {
    const connection = await open();
    connection.send(text);
    expect((await connection.next()).error.code).toBe(code);
    connection.socket.close();
  });

  it('asks strangers to authenticate first', async () => {
    const connection = await open({ headers: {} });
    expect(await connection.ask('status.show')).toMatchObject({ error: { data: { code: 'unauthenticated' } } });
    expect(await connection.ask('auth', { token: 'wrong' })).toMatchObject({ error: { data: { code: 'unauthenticated' } } });
    expect(await connection.ask('auth', { token: door.token })).toMatchObject({ result: { caller: { id: 'local' } } });
    expect(await connection.ask('status.show')).toMatchObject({ result: { version: '9.9.9' } });
    connection.socket.close();
  });

  it('lets a ticket open one connection', async () => {
    const { ticket } = await readJson(await door.fetch('/api/tickets', { method: 'POST' }));
    const path = `/ws?ticket=${ticket}`;
    const connection = await open({ path, headers: {} });
    expect(await connection.ask('status.show')).toMatchObject({ result: { version: '9.9.9' } });
    connection.socket.close();
    await expect(open({ path, headers: {} })).rejects.toThrow('401');
  });

  it('ends with the key: its tickets open nothing, and its next message is not served', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const { id, key } = await readJson(await door.fetch('/api/keys', init));
    const headers = { authorization: `Bearer ${key}` };
    const makeTicket = async () => (await readJson(await door.fetch('/api/tickets', { method: 'POST', headers }))).ticket;
    const [shown, said] = [await makeTicket(), await makeTicket()];
    const connection = await open({ headers });
    await door.fetch(`/api/keys/${id}`, { method: 'DELETE' });
    const served = door.nextEvent('execution-start', () => true);
    const closed = once(connection.socket, 'close');
    connection.send({ jsonrpc: '2.0', id: 1, method: 'tools.call', params: { ref: 'echo' } });
    expect(await Promise.race([closed, served])).toEqual([4401, expect.anything()]);
    await expect(open({ path: `/ws?ticket=${shown}`, headers: {} })).rejects.toThrow('401');
    const stranger = await open({ headers: {} });
    expect(await stranger.ask('auth', { ticket: said })).toMatchObject({ error: { data: { code: 'unauthenticated' } } });
    stranger.socket.close();
  });

  it('refuses wrong tokens, foreign origins and foreign hosts at the handshake', async () => {
    await expect(open({ headers: { authorization: 'Bearer wrong' } })).rejects.toThrow('401');
    const authorization = `Bearer ${door.token}`;
    await expect(open({ headers: { authorization, origin: 'http://evil.example' } })).rejects.toThrow('403');
    await expect(open({ headers: { authorization, host: 'evil.example' } })).rejects.toThrow('403');
  });

  it('closes a stranger who sends much, and anybody who sends too much', async () => {
    const stranger = await open({ headers: {} });
    stranger.send('x'.repeat(5000));
    const [code, reason] = await once(stranger.socket, 'close');
    expect([code, String(reason)]).toEqual([4401, 'authenticate first']);
    const friend = await open();
    friend.send('x'.repeat(18 * 1024 * 1024));
    expect((await once(friend.socket, 'close'))[0]).toBe(1009);
  });

  it('sends events after the answer to the subscription, kept ones first', async () => {
    const change = (reason: string) =>
      door.events.publish('plugin-change', { subject: 'echo', data: { path: 'p', state: 'ready', previousState: 'x', reason } });
    const after = door.events.lastSeq();
    change('kept');
    const connection = await open();
    const { result } = await connection.ask('events.subscribe', { after, types: ['plugin-change'] });
    expect(result.lastSeq).toBe(after + 1);
    change('live');
    const events = [await connection.next(), await connection.next()];
    expect(events.map(({ method, params }) => [method, params.subscription, params.event.data.reason])).toEqual([
      ['events.event', result.subscription, 'kept'],
      ['events.event', result.subscription, 'live'],
    ]);
    const { subscription } = result;
    expect(await connection.ask('events.unsubscribe', { subscription })).toMatchObject({ result: { unsubscribed: true } });
    change('unseen');
    expect(await connection.ask('status.show')).toMatchObject({ result: { version: '9.9.9' } });
    connection.socket.close();
  });

  it.each(['name', 'tool'])('tells who calls a tool by "%s" the right member', async (word) => {
    const connection = await open();
    const { error } = await connection.ask('tools.call', { [word]: 'waits', arguments: {} });
    expect(error).toMatchObject({
      data: { code: 'body-invalid', fix: expect.stringContaining('Here the tool is called "ref"') },
    });
    connection.socket.close();
  });

  it('cancels a call by rpc.cancel', async () => {
    const connection = await open();
    const started = door.nextEvent('execution-start', () => true);
    connection.send({ jsonrpc: '2.0', id: 'call', method: 'tools.call', params: { ref: 'waits' } });
    await started;
    connection.send({ jsonrpc: '2.0', method: 'rpc.cancel', params: { id: 'call' } });
    expect(await connection.next()).toMatchObject({ id: 'call', result: { status: 'cancelled' } });
    connection.socket.close();
  });

  it('disconnects whoever asks and does not read the answers', async () => {
    const { socket, ask, send } = await open();
    const method = 'rpc.discover';
    const bytes = JSON.stringify(await ask(method)).length;
    const batch = Array.from({ length: Math.ceil(2_000_000 / bytes) }, (_, id) => ({ jsonrpc: '2.0', id, method }));
    const batches = 30;
    let answered = 0;
    const ended = new Promise<number | string>((resolve) => {
      socket.once('close', resolve);
      socket.on('message', () => ++answered === batches && resolve('all answers were kept'));
    });
    socket.pause();
    for (let sent = 0; sent < batches; sent++) send(batch);
    // Whoever reads over HTTP in between knows that the daemon saw all of it.
    for (let asked = 0; asked < 20; asked++) await door.fetch('/api/status');
    socket.resume();
    expect([1006, 4408]).toContain(await ended);
  });

  it('disconnects a slow reader, saying so', async () => {
    const connection = await open();
    await connection.ask('events.subscribe', {});
    connection.socket.pause();
    const text = 'x'.repeat(100_000);
    for (let count = 0; count < 400; count++) {
      door.events.publish('execution-log', { subject: 'exe', data: { level: 'info', text } });
      if (count % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const closed = once(connection.socket, 'close');
    connection.socket.resume();
    expect([1006, 4408]).toContain((await closed)[0]);
  });
});
