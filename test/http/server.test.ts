import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../src/http/admission/auth.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { type Door, openDoor, readJson } from './door-parts.ts';

let door: Door;
beforeAll(async () => {
  door = await openDoor();
});
afterAll(() => door.close());

const json = { 'content-type': 'application/json' };

async function call(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  return door.fetch(path, { method: 'POST', headers: { ...json, ...headers }, ...init });
}

describe('startHttpServer', () => {
  it('answers health, readiness and the page to anybody', async () => {
    for (const path of ['/', '/healthz', '/readyz', '/openapi.json']) {
      const response = await fetch(door.url + path);
      expect([path, response.status]).toEqual([path, 200]);
      await response.arrayBuffer();
    }
  });

  it('calls a tool with what was sent, and keeps a record of it', async () => {
    const sent = { arguments: { text: 'hi' }, session: 's', idempotencyKey: 'k' };
    const response = await call('/api/tools/echo/call', sent);
    const answer = await readJson(response);
    expect([response.status, answer]).toEqual([
      200,
      { executionId: expect.stringMatching(/^exe_/), status: 'success', output: { text: 'hi' }, durationMs: expect.any(Number) },
    ]);
    expect(await readJson(await door.fetch(`/api/executions/${answer.executionId}`))).toMatchObject({
      caller: 'local',
      status: 'success',
      ...sent,
    });
    expect(await readJson(await call('/api/tools/echo/call', sent))).toMatchObject({ ...answer, replayed: true });
  });

  it('takes the idempotency key from its header too', async () => {
    const send = (name: string) => call('/api/tools/echo/call', { arguments: { name } }, { 'idempotency-key': 'by-header' });
    const first = await readJson(await send('Ada'));
    expect(await readJson(await send('Ada'))).toMatchObject({ executionId: first.executionId, replayed: true });
    expect((await send('Bob')).status).toBe(409);
  });

  it.each([
    [{ name: 'Ada' }, '"arguments": {"name": …}'],
    [{ args: { name: 'Ada' } }, 'it is called "arguments"'],
    [{ arguments: { name: 'Ada' }, timeout: 5 }, 'what fits the schema'],
  ])('says of %j where things belong', async (body, said) => {
    expect(await readJson(await call('/api/tools/echo/call', body))).toMatchObject({ fix: expect.stringContaining(said) });
  });

  it('takes missing arguments, and a missing body, as {}', async () => {
    for (const body of [undefined, {}]) {
      expect((await readJson(await call('/api/tools/echo/call', body))).output).toEqual({});
    }
  });

  it('takes the tool from the path, whatever the body says', async () => {
    expect((await readJson(await call('/api/tools/echo%40%5E1/call', { ref: 'waits' }))).output).toEqual({});
  });

  it.each([
    [{ arguments: [1] }, 'arguments'],
    [{ arguments: 'x' }, 'arguments'],
    [{ arguments: {}, timeoutMs: 'x' }, 'timeoutMs'],
    [{ argumnts: {} }, 'Did you mean "arguments"'],
    [[1], 'an array'],
  ])('refuses the body %j and names what is wrong', async (body, named) => {
    const response = await call('/api/tools/echo/call', body);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    const problem = await readJson(response);
    expect(problem).toMatchObject({ code: 'body-invalid', status: 400 });
    expect(problem.detail).toContain(named);
  });

  it('refuses a body that is not JSON, or tampers with prototypes', async () => {
    for (const body of ['{', '{"arguments":{"__proto__":{"x":1}}}']) {
      const response = await door.fetch('/api/tools/echo/call', { method: 'POST', headers: json, body });
      expect(await readJson(response)).toMatchObject({ code: 'body-invalid', status: 400 });
    }
  });

  it('says which content type it expects', async () => {
    const response = await door.fetch('/api/tools/echo/call', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=1',
    });
    expect(await readJson(response)).toMatchObject({ code: 'body-invalid', detail: expect.stringContaining('application/json') });
  });

  it('refuses a body beyond the bound', async () => {
    const response = await call('/api/tools/echo/call', { arguments: { text: 'x'.repeat(17 * 1024 * 1024) } });
    expect([response.status, (await readJson(response)).code]).toEqual([413, 'payload-too-large']);
  });

  it('answers a refusal of the core with its status and code', async () => {
    expect(await readJson(await call('/api/tools/ecko/call', {}))).toMatchObject({
      status: 404,
      code: 'tool-unknown',
      detail: expect.stringContaining('echo'),
    });
  });

  it('refuses strangers and unknown tokens before it reads the body', async () => {
    for (const authorization of ['', 'Bearer wrong', 'Basic abc', `Bearer ${'x'.repeat(5000)}`]) {
      const response = await call('/api/tools/echo/call', {}, { authorization });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="hotcell"']);
      expect((await readJson(response)).code).toBe('unauthenticated');
    }
  });

  it('knows keys by role, until they are revoked', async () => {
    const { id, key } = await readJson(await call('/api/keys', { name: 'chat' }));
    const authorization = `Bearer ${key}`;
    const { executionId } = await readJson(await call('/api/tools/echo/call', {}, { authorization }));
    expect(await readJson(await door.fetch(`/api/executions/${executionId}`))).toMatchObject({ caller: id });
    expect((await readJson(await door.fetch('/api/executions', { headers: { authorization } }))).items).toHaveLength(1);
    expect((await door.fetch('/api/plugins', { headers: { authorization } })).status).toBe(403);
    expect((await door.fetch('/metrics', { headers: { authorization } })).status).toBe(403);
    const { items } = await readJson(await door.fetch('/api/keys'));
    expect(JSON.stringify(items)).not.toContain(key);
    expect(await readJson(await door.fetch(`/api/keys/${id}`, { method: 'DELETE' }))).toEqual({ id, revoked: true });
    expect((await call('/api/tools/echo/call', {}, { authorization })).status).toBe(401);
  });

  it('reads query strings as the types of the schema', async () => {
    const page = await readJson(await door.fetch('/api/tools?q=again&limit=1&mode=on'));
    expect(page).toMatchObject({ total: 1, items: [{ ref: 'echo@1.0.0', inputSource: 'parameters' }] });
    expect(await readJson(await door.fetch('/api/tools?limit=0'))).toMatchObject({ code: 'body-invalid' });
    expect(await readJson(await door.fetch('/api/tools?limt=1'))).toMatchObject({ detail: expect.stringContaining('"limit"') });
  });

  it('sends and takes source as text, with a hash that guards it', async () => {
    const read = await door.fetch('/api/plugins/echo/source');
    const text = await read.text();
    const match = { 'if-match': read.headers.get('etag') ?? '' };
    expect([text, match]).toEqual([
      expect.stringContaining("name: 'echo'"),
      { 'if-match': expect.stringMatching(/^"[0-9a-f]{64}"$/) },
    ]);
    const put = (body: string, headers = {}) => door.fetch('/api/plugins/echo/source', { method: 'PUT', headers, body });
    const broken = await put(`${text}}`, { ...match, 'content-type': 'text/typescript' });
    expect([broken.status, await readJson(broken)]).toMatchObject([
      422,
      {
        code: 'reload-failed',
        ok: false,
        state: 'degraded',
        generation: 1,
        diagnostic: { file: 'echo.ts', line: expect.any(Number) },
      },
    ]);
    expect((await call('/api/plugins/echo/reload')).status).toBe(422);
    expect((await call('/api/tools/echo/call', {})).status).toBe(200);
    expect(await readJson(await put(text, match))).toMatchObject({ code: 'conflict', status: 409 });
    expect(await readJson(await put(text))).toMatchObject({ ok: true, state: 'ready' });
    const { items } = await readJson(await door.fetch('/api/plugins/echo/why'));
    expect(items.map((item: { to: string }) => item.to)).toEqual(expect.arrayContaining(['ready', 'degraded']));
  });

  it('names near routes, and the methods of a path', async () => {
    expect(await readJson(await door.fetch('/api/plugin'))).toMatchObject({
      code: 'not-found',
      near: expect.arrayContaining(['/api/plugins']),
    });
    expect(await readJson(await door.fetch('/api/tools/echo/call'))).toMatchObject({
      code: 'method-not-allowed',
      allow: ['POST'],
    });
    expect(await readJson(await door.fetch('/api/%zz'))).toMatchObject({ code: 'not-found' });
  });

  it.each([
    ['evil.example', undefined, 403],
    ['evil.example:7420', undefined, 403],
    ['localhost:7420', undefined, 200],
    ['HotCell.example:443', 'https://HotCell.example:443', 200],
    ['a.hotcell.example', undefined, 403],
    ['[::1]:1', undefined, 200],
    ['127.0.0.1:7420', 'http://127.0.0.1:7420', 200],
    ['127.0.0.1:7420', 'http://evil.example', 403],
    ['127.0.0.1:7420', 'http://127.0.0.1:9999', 403],
    ['127.0.0.1:7420', 'null', 403],
  ])('checks Host %s and Origin %s', async (host, origin, status) => {
    expect(await statusFor('/healthz', { host, ...(origin === undefined ? {} : { origin }) })).toBe(status);
  });

  it.each([
    ['two hosts', ['Host: localhost', 'Host: evil.example'], 400],
    ['the same host twice', ['Host: localhost', 'host: localhost'], 400],
    ['two origins', ['Host: localhost', 'Origin: http://localhost', 'Origin: http://evil.example'], 400],
    ['two tokens', ['Host: localhost', 'Authorization: Bearer a', 'Authorization: Bearer b'], 400],
    ['two lengths', ['Host: localhost', 'Content-Length: 0', 'Content-Length: 0'], 400],
    ['two switches', ['Host: localhost', 'X-Hotcell-Cancel-On-Disconnect: 1', 'X-Hotcell-Cancel-On-Disconnect: 0'], 400],
    ['two types that it takes', ['Host: localhost', 'Accept: text/html', 'Accept: */*'], 200],
  ])('answers %s with %i', async (_what, lines, status) => {
    expect(await askRaw(['GET /healthz HTTP/1.1', ...lines])).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ];
    if (status === 400) expect(await askRaw(['GET /ws HTTP/1.1', ...lines, ...upgrade])).toMatch(/^HTTP\/1.1 400 /);
  });

  it('shows the config without secrets', async () => {
    const text = await (await door.fetch('/api/config')).text();
    expect(text).toContain('"weather":{"apiKey":"(set)"}');
    expect(text).not.toContain('very-secret');
  });

  it('cancels a call with its client only when asked to', async () => {
    const isWaits = (event: { data: { tool: string } }) => event.data.tool === 'waits';
    const leave = async (headers: Record<string, string>) => {
      const controller = new AbortController();
      const started = door.nextEvent('execution-start', isWaits);
      const init = { method: 'POST', headers: { ...json, ...headers }, body: '{}', signal: controller.signal };
      const pending = door.fetch('/api/tools/waits/call', init);
      const { subject } = await started;
      controller.abort();
      await expect(pending).rejects.toThrow();
      return subject;
    };
    const ended = door.nextEvent('execution-end', isWaits);
    const kept = await leave({});
    const cancelled = await leave({ 'x-hotcell-cancel-on-disconnect': '1' });
    expect(await ended).toMatchObject({ subject: cancelled, data: { status: 'cancelled' } });
    expect(await readJson(await door.fetch(`/api/executions/${kept}`))).toMatchObject({ status: 'running' });
    expect(await readJson(await call(`/api/executions/${kept}/cancel`))).toEqual({ id: kept, cancelled: true });
  });

  it('describes every operation in OpenAPI, and counts in Prometheus text', async () => {
    const { paths } = await readJson(await fetch(`${door.url}/openapi.json`));
    for (const { http, name } of door.operations) {
      const path = http.path.replace(/:(\w+)/g, '{$1}');
      expect(paths[path]?.[http.method.toLowerCase()]?.operationId).toBe(name);
    }
    const data = { tool: 'e"cho', version: '1.0.0', status: 'success', durationMs: 3 };
    door.events.publish('execution-end', { subject: 'exe_1', data });
    const text = await (await door.fetch('/metrics')).text();
    expect(text).toContain('hotcell_calls_total{tool="e\\"cho",status="success"} 1');
    expect(text).toContain('hotcell_info{version="9.9.9"} 1');
  });

  it('takes a client that goes away in mid-body for what it is: no fault of the daemon', async () => {
    const lines: string[] = [];
    const gone = Promise.withResolvers<void>();
    const stream = {
      write(line: string) {
        lines.push(line);
        if (line.includes('went away')) gone.resolve();
      },
    };
    const { operations, events, keys, cwd } = door;
    const config = { host: '127.0.0.1', port: 0, http: { allowedHosts: [] } };
    const doors = createAuthenticator({ dataDir: cwd, env: { HOTCELL_TOKEN: door.token }, keys });
    const server = await startHttpServer({
      config,
      operations,
      events,
      ...doors,
      version: '0.0.0',
      log: pino({ level: 'debug' }, stream),
    });
    const ready = await fetch(`${server.url}/readyz`);
    expect(ready.status).toBe(200);
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    const head = ['POST /api/tools/echo/call HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${door.token}`];
    socket.write([...head, 'Content-Type: application/json', 'Content-Length: 1000', '', '{"arguments":'].join('\r\n'));
    await once(socket, 'connect');
    await fetch(`${server.url}/healthz`);
    socket.resetAndDestroy();
    await gone.promise;
    await server.close();
    expect(lines.filter((line) => line.includes('"level":50') || line.includes('stack'))).toEqual([]);
  });

  it('ends connections that asked for nothing when it closes, while it answers those that asked', async () => {
    const { operations, events, keys, cwd } = door;
    const config = { host: '127.0.0.1', port: 0, http: { allowedHosts: [] } };
    const doors = createAuthenticator({ dataDir: cwd, env: { HOTCELL_TOKEN: door.token }, keys });
    const server = await startHttpServer({
      config,
      operations,
      events,
      ...doors,
      version: '0.0.0',
      log: pino({ level: 'silent' }),
    });
    const port = Number(new URL(server.url).port);
    const unused = connect(port, '127.0.0.1');
    const asking = connect(port, '127.0.0.1');
    const head = ['POST /api/tools/echo/call HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${door.token}`];
    asking.write([...head, 'Content-Type: application/json', 'Content-Length: 17', '', '{"arguments":'].join('\r\n'));
    await Promise.all([once(unused, 'connect'), once(asking, 'connect')]);
    // What came before it was taken up.
    await fetch(`${server.url}/healthz`);
    const closing = server.close();
    await once(unused.resume(), 'close');
    asking.write('{} }');
    const answer = await Promise.race([once(asking, 'data'), once(asking, 'close').then(() => ['closed'])]);
    expect(String(answer[0])).toMatch(/^HTTP\/1\.1 200 /);
    asking.destroy();
    await closing;
  });

  it('does not fall over bytes that are no HTTP', async () => {
    const { port } = new URL(door.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.end('\x16\x03\x01 nonsense\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve).resume());
    expect((await fetch(`${door.url}/healthz`)).status).toBe(200);
  });
});

/** Sends one request as it is; resolves with the first line of the answer. */
async function askRaw(lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(door.url).port), '127.0.0.1');
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [data] = await once(socket, 'data');
  socket.destroy();
  return String(data).split('\r\n', 1)[0] ?? '';
}

function statusFor(path: string, headers: Record<string, string>): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const { hostname, port } = new URL(door.url);
  request({ hostname, port, path, headers }, (response) => {
    response.resume();
    resolve(response.statusCode);
  })
    .once('error', reject)
    .end();
  return promise;
}
