import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotas } from '../../src/config/quotas.ts';
import { startSmallDaemon } from '../small-daemon.ts';

let small: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  small = await startSmallDaemon(
    {
      'hello.ts': `export default { description: 'Greets.', handler: () => 'hello' };`,
      'waits.ts': 'export default { handler: () => new Promise((resolve) => setTimeout(resolve, 600_000)) };',
    },
    { limits: { wallMs: 700_000 } },
    { listen: true },
  );
});
afterAll(() => small.close());

const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const makeKey = () => small.parts.keys.create({ name: 'test', role: 'caller' });

function post(token: string, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${small.daemon.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
}

async function begin(token: string): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const answer = await post(token, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
  await answer.text();
  return answer.headers.get('mcp-session-id') ?? '';
}

async function list(token: string, session: string): Promise<number> {
  const answer = await post(token, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, { 'mcp-session-id': session });
  await answer.text();
  return answer.status;
}

describe('sessions of MCP clients', () => {
  it('end where a caller begins too many, the one first that was idle longest', async () => {
    const { key } = makeKey();
    const ids: string[] = [];
    for (let count = 0; count <= quotas['door.mcpSessions'].perCaller; count++) ids.push(await begin(key));
    expect(await list(key, ids[0] ?? '')).toBe(404);
    expect(await list(key, ids[1] ?? '')).toBe(200);
  });

  it('belong to the key that began them', async () => {
    const { key } = makeKey();
    const session = await begin(key);
    expect(await list(small.daemon.token, session)).toBe(404);
    expect(await list(makeKey().key, session)).toBe(404);
    expect(await list(key, session)).toBe(200);
  });

  it('end with their key', async () => {
    const { key, row } = makeKey();
    const session = await begin(key);
    small.parts.keys.update(row.id, { tools: [] });
    expect(await list(key, session)).toBe(404);
    small.parts.keys.revoke(row.id);
    expect(await list(key, session)).toBe(401);
  });
});

describe('a key whose time is over', () => {
  /** A key that ends so soon, with a session, a stream of each era and a task; undefined where the time was too short for that. */
  async function open(forMs: number) {
    const { key } = small.parts.keys.create({ name: 'test', role: 'caller', rules: { expiresAtMs: Date.now() + forMs } });
    const session = await begin(key);
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': tasks };
    const modern = (method: string, params: object, name: Record<string, string> = {}) =>
      post(
        key,
        { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
        { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name },
      );
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream', 'mcp-session-id': session };
    const streams = [
      await fetch(`${small.daemon.url}/mcp`, { headers }),
      await modern('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    ];
    const called = await modern('tools/call', { name: 'waits', arguments: {} }, { 'mcp-name': 'waits' });
    const { result }: { result?: { taskId?: string } } = Object(await called.json());
    const taskId = result?.taskId;
    if (taskId === undefined) return undefined;
    return { key, session, streams, look: () => modern('tasks/get', { taskId }, { 'mcp-name': taskId }) };
  }

  it('loses its session, its streams and the way to its tasks in the middle of them', async () => {
    let opened = await open(1000);
    for (let forMs = 2000; opened === undefined; forMs *= 2) opened = await open(forMs);
    const { key, session, streams, look } = opened;
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await Promise.all(streams.map((stream) => stream.text().catch(() => '')));
    expect([await list(key, session), (await look()).status]).toEqual([401, 401]);
  });
});

describe('a request to /mcp that is none', () => {
  it.each<[string, unknown, number, number, Record<string, string>]>([
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], 400, -32600, {}],
    ['text that is no JSON', '{"jsonrpc":', 400, -32700, {}],
    ['a request without a session', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, 400, -32000, {}],
    ['a session that nobody began', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, 404, -32001, { 'mcp-session-id': 'x' }],
  ])('is refused in the words of the protocol: %s', async (_what, message, status, code, headers) => {
    const answer = await post(small.daemon.token, message, headers);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  it('is refused without a key, from another site, and to another host', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const answer = await post('nobody', message);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    expect((await post(small.daemon.token, message, { origin: 'https://evil.example' })).status).toBe(403);
  });
});
