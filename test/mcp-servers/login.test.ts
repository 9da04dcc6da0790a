import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type McpHouse, openMcpHouse } from './mcp-house.ts';

let house: McpHouse | undefined;
let server: Server | undefined;

afterEach(async () => {
  await house?.close();
  house = undefined;
  server?.closeAllConnections();
  server?.close();
});

/** A server with a login, and whoever gives it out; a person agrees after being asked twice. */
async function startGuarded(): Promise<string> {
  let asked = 0;
  let base = '';
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const reply = (value: unknown, status = 200, headers = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
    };
    switch (request.url) {
      case '/.well-known/oauth-protected-resource/mcp':
        return reply({ resource: `${base}/mcp`, authorization_servers: [base], scopes_supported: ['notes'] });
      case '/.well-known/oauth-authorization-server':
        return reply({
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          device_authorization_endpoint: `${base}/device`,
          registration_endpoint: `${base}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        });
      case '/register':
        return reply({ ...JSON.parse(body), client_id: 'client-1' }, 201);
      case '/device': {
        const page = { verification_uri: `${base}/enter`, user_code: 'ABCD-\u001b[2JEFGH' };
        return reply({ ...page, device_code: 'device-1', expires_in: 600, interval: 0 });
      }
      case '/token': {
        asked += 1;
        const form = new URLSearchParams(body);
        if (asked <= 2) return reply({ error: 'authorization_pending' }, 400);
        const isMeant = form.get('device_code') === 'device-1' && form.get('client_id') === 'client-1';
        return isMeant
          ? reply({ access_token: 'token-of-the-device', token_type: 'Bearer' })
          : reply({ error: 'invalid_grant' }, 400);
      }
      default:
    }
    if (request.headers.authorization !== 'Bearer token-of-the-device') {
      const challenge = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`;
      return reply({ error: 'invalid_token' }, 401, { 'www-authenticate': challenge });
    }
    const { id, method, params } = JSON.parse(body === '' ? '{}' : body);
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/list')
      return reply({ jsonrpc: '2.0', id, result: { tools: [{ name: 'read', inputSchema: { type: 'object' } }] } });
    if (method === 'tools/call') {
      return reply({
        jsonrpc: '2.0',
        id,
        result: { content: [{ type: 'text', text: `came with ${request.headers.authorization}` }] },
      });
    }
    if (method !== 'initialize') return reply({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } });
    const { protocolVersion } = params;
    return reply({
      jsonrpc: '2.0',
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1.0.0' } },
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address());
  base = `http://127.0.0.1:${port}`;
  return base;
}

describe('a login by device code', () => {
  it('waits until a person agreed elsewhere; its token is in no answer, and is forgotten when asked to', async () => {
    const base = await startGuarded();
    house = await openMcpHouse({ guarded: { url: `${base}/mcp`, auth: { flow: 'device' } } });
    await house.server('guarded', ({ state }) => state === 'login');
    const { mcp } = house.parts;
    const { signal } = new AbortController();
    expect(await mcp.login('guarded', { redirectUrl: undefined, signal })).toMatchObject({
      kind: 'device',
      url: `${base}/enter`,
      userCode: 'ABCD-EFGH',
    });
    await mcp.finishLogin('guarded', { answer: undefined, signal });
    await house.admit('guarded');
    expect((await house.call('guarded/read')).output).toBe('came with Bearer [secret mcp:guarded]');
    expect(await mcp.logout('guarded')).toBe(true);
    expect(await mcp.logout('guarded')).toBe(false);
    await house.server('guarded', ({ state }) => state === 'login');
  });

  it('has to be begun, and by an entry that has one', async () => {
    const base = await startGuarded();
    house = await openMcpHouse({ guarded: { url: `${base}/mcp`, auth: {} }, open: { url: `${base}/mcp` } });
    const { mcp } = house.parts;
    const { signal } = new AbortController();
    await expect(mcp.finishLogin('guarded', { answer: new URLSearchParams('code=1'), signal })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(mcp.login('open', { redirectUrl: undefined, signal })).rejects.toMatchObject({ code: 'conflict' });
    await expect(mcp.login('nobody', { redirectUrl: undefined, signal })).rejects.toMatchObject({ code: 'mcp-unknown' });
    // An answer that is not to the question that was asked is taken from nobody.
    const step = await mcp.login('guarded', { redirectUrl: 'http://127.0.0.1:7421/callback', signal });
    expect(step).toMatchObject({ kind: 'browser', url: expect.stringContaining(`${base}/authorize?`) });
    const forged = new URLSearchParams({ code: 'stolen', state: 'guessed' });
    await expect(mcp.finishLogin('guarded', { answer: forged, signal })).rejects.toMatchObject({ code: 'forbidden' });
  });
});
