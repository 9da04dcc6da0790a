import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

async function manage(token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp/manage', small.daemon.url), { requestInit: { headers } }));
  return client;
}

const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

describe('the operations of the daemon as tools of MCP', () => {
  it('steer it', async () => {
    const client = await manage(small.daemon.token);
    const { content } = await client.callTool({ name: 'plugins_list', arguments: {} });
    expect(JSON.stringify(content)).toContain('hello');
    const wrong = await client.callTool({ name: 'plugins_get', arguments: { name: 'helo' } });
    expect(wrong).toMatchObject({ isError: true });
    expect(JSON.stringify(wrong.content)).toContain('hello');
    await client.close();
  });

  it('are never what people decide, and of a caller only what its role may', async () => {
    const client = await manage(small.daemon.token);
    const all = await names(client);
    for (const forbidden of [
      'grants_create',
      'approvals_answer',
      'keys_create',
      'secrets_set',
      'hooks_approve',
      'skills_approve',
      'tickets_create',
    ]) {
      expect(all).not.toContain(forbidden);
      await expect(client.callTool({ name: forbidden, arguments: {} })).rejects.toMatchObject({ code: -32602 });
    }
    await client.close();

    const { key } = small.parts.keys.create({ name: 'few', role: 'caller' });
    const caller = await manage(key);
    const few = await names(caller);
    expect(few).toContain('executions_list');
    for (const forbidden of ['plugins_source', 'plugins_writeSource', 'plugins_reload']) expect(few).not.toContain(forbidden);
    await expect(caller.callTool({ name: 'plugins_source', arguments: { name: 'hello' } })).rejects.toMatchObject({
      code: -32602,
    });
    await caller.close();
  });
});

describe('a client that looks how it gets in', () => {
  it('finds that a key is handed over', async () => {
    const refused = await fetch(`${small.daemon.url}/mcp`, { method: 'POST' });
    expect(refused.status).toBe(401);
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
    expect(await (await fetch(url)).json()).toMatchObject({
      resource: `${small.daemon.url}/mcp`,
      bearer_methods_supported: ['header'],
    });
  });
});
