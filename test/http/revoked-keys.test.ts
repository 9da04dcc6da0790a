import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startSmallDaemon } from '../small-daemon.ts';
import { readJson } from './door-parts.ts';

const plugins = {
  'waits.ts': 'export default { handler: () => new Promise((resolve) => setTimeout(() => resolve("late"), 600_000)) };',
  'guarded.ts': 'export default { isDangerous: true, handler: () => "ran" };',
};

let house: Awaited<ReturnType<typeof startSmallDaemon>>;
let url: string;
beforeAll(async () => {
  house = await startSmallDaemon(plugins, { grantRequested: false, limits: { wallMs: 700_000 } }, { listen: true });
  url = house.daemon.url ?? '';
});
afterAll(() => house.close());

const json = { 'content-type': 'application/json' };
const admin = () => ({ ...json, authorization: `Bearer ${house.daemon.token}` });

async function makeKey(): Promise<{ id: string; authorization: string }> {
  const { id, key } = await readJson(await fetch(`${url}/api/keys`, { method: 'POST', headers: admin(), body: '{}' }));
  return { id, authorization: `Bearer ${key}` };
}

const revoke = async (id: string) =>
  expect((await fetch(`${url}/api/keys/${id}`, { method: 'DELETE', headers: admin() })).ok).toBe(true);
const executionsOf = (id: string) => house.parts.executions.list({ caller: id }, { id: 'local', role: 'admin' }).items;

describe('a key that is revoked', () => {
  it('gets 401 for calls that it made before, which are cancelled, also those that wait for a person', async () => {
    const { id, authorization } = await makeKey();
    const ask = (tool: string) =>
      fetch(`${url}/api/tools/${tool}/call`, { method: 'POST', headers: { ...json, authorization }, body: '{}' });
    const asked = ['waits', 'guarded'].map(ask);
    await expect.poll(() => executionsOf(id).map(({ status }) => status)).toEqual(expect.arrayContaining(['running', 'pending']));
    await revoke(id);
    for (const answer of await Promise.all(asked)) {
      expect([answer.status, (await readJson(answer)).code]).toEqual([401, 'unauthenticated']);
    }
    expect(executionsOf(id).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    expect(house.parts.approvals.list({ caller: id, status: 'open', limit: 10 })).toEqual([]);
  });

  it('is not told what became of what it asked for over A2A', async () => {
    const { id, authorization } = await makeKey();
    const message = { messageId: 'm0', role: 'ROLE_USER', parts: [{ data: { tool: 'waits', arguments: {} } }] };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } });
    const headers = { ...json, authorization, 'a2a-version': '1.0' };
    const asked = fetch(`${url}/a2a`, { method: 'POST', headers, body });
    await expect.poll(() => executionsOf(id).map(({ status }) => status)).toEqual(['running']);
    await revoke(id);
    const answer = await asked;
    expect([answer.status, (await readJson(answer)).code]).toEqual([401, 'unauthenticated']);
  });

  it('loses its WebSockets and streams at once, although nothing happens on them', async () => {
    const { id, authorization } = await makeKey();
    const other = await makeKey();
    const [socket, stays] = [authorization, other.authorization].map(
      (header) => new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization: header } }),
    );
    if (socket === undefined || stays === undefined) throw new Error('there is no socket');
    await Promise.all([once(socket, 'open'), once(stays, 'open')]);
    const stream = await fetch(`${url}/api/events`, { headers: { authorization } });
    const closed = once(socket, 'close');
    const ended = stream.text();
    await revoke(id);
    expect((await closed)[0]).toBe(4401);
    expect(await ended).toBe('retry: 1000\n\n');
    expect(stays.readyState).toBe(WebSocket.OPEN);
    stays.close();
  });

  it.each([
    ['POST', '/api/keys', '{"role":"admin"}'],
    ['POST', '/api/grants', '{"plugin":"waits","permissions":{"net":["evil.example"]}}'],
    ['PATCH', '/api/plugins/waits', '{"enabled":false}'],
    ['POST', '/api/tools/guarded/call', '{"arguments":{}}'],
  ])('does nothing more with a body of %s %s that it began to send before', async (method, path, body) => {
    const { id, key } = await readJson(
      await fetch(`${url}/api/keys`, { method: 'POST', headers: admin(), body: '{"role":"admin"}' }),
    );
    const before = await stateOfDaemon(id);
    const headers = { ...json, authorization: `Bearer ${key}`, 'content-length': body.length };
    const sent = request(`${url}${path}`, { method, headers });
    const answered = once(sent, 'response');
    sent.write(body.slice(0, 5));
    // The head of the request is there: the door has looked at the key.
    await expect
      .poll(() => fetch(`${url}/api/keys`, { headers: admin() }).then((answer) => answer.text()))
      .toMatch(/lastUsedAtMs/);
    await revoke(id);
    sent.end(body.slice(5));
    const [answer] = await answered;
    expect(answer.statusCode).toBe(401);
    expect(await stateOfDaemon(id)).toEqual(before);
  });
});

describe('a key whose rights are taken from it while it sends a request', () => {
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ data: { tool: 'guarded', arguments: {} } }] };
  const sse = { accept: 'application/json, text/event-stream' };

  it.each<[string, object, Record<string, string>]>([
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }, sse],
    ['/mcp/manage', { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }, sse],
    ['/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }, { 'a2a-version': '1.0' }],
    ['/v1/chat/completions', { model: 'm', messages: [] }, {}],
    ['/v1/messages', { model: 'm', messages: [], max_tokens: 1 }, {}],
    ['/v1/responses', { model: 'm', input: 'x' }, {}],
  ])('begins nothing with the rights that it had: %s', async (path, said, more) => {
    const { id, authorization } = await makeKey();
    const body = JSON.stringify(said);
    const headers = { ...json, ...more, authorization, 'content-length': body.length };
    const sent = request(`${url}${path}`, { method: 'POST', headers });
    const answered = once(sent, 'response');
    sent.write(body.slice(0, 5));
    // The head of the request is there: the door has looked at the key.
    await expect.poll(() => house.parts.keys.list().find((key) => key.id === id)?.lastUsedAtMs).toEqual(expect.any(Number));
    house.parts.keys.update(id, { tools: [] });
    sent.end(body.slice(5));
    const [answer] = await answered;
    expect([answer.statusCode, answer.headers['mcp-session-id']]).toEqual([401, undefined]);
    expect(executionsOf(id)).toEqual([]);
  });
});

/** What the operator sees of other keys in force, grants and plugins. */
async function stateOfDaemon(ownId: string) {
  const read = async (path: string) => (await readJson(await fetch(`${url}${path}`, { headers: admin() }))).items;
  const keys: { id: string; revokedAtMs?: number }[] = await read('/api/keys');
  const plugins: { state: string }[] = await read('/api/plugins');
  return {
    keys: keys.filter(({ id, revokedAtMs }) => id !== ownId && revokedAtMs === undefined).map(({ id }) => id),
    grants: await read('/api/grants'),
    plugins: plugins.map(({ state }) => state),
  };
}
