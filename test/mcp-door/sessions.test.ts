import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { budgets } from '../../src/config/budgets.ts';
import { startSmallDaemon } from '../small-daemon.ts';

let small: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  small = await startSmallDaemon(
    { 'hello.ts': `export default { description: 'Greets.', handler: () => 'hello' };` },
    {},
    { listen: true },
  );
});
afterAll(() => small.close());

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
    for (let count = 0; count <= budgets['door.mcpSessions'].perCaller; count++) ids.push(await begin(key));
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
