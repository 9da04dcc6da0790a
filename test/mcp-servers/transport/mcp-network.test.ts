import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planServer } from '../../../src/mcp-servers/server-plan.ts';
import { createMcpNetwork } from '../../../src/mcp-servers/transport/mcp-network.ts';
import { createReceivedBytes } from '../../../src/mcp-servers/transport/stream-bounds.ts';
import { createSecretRegistry } from '../../../src/secrets/secret-registry.ts';

let seen: string[];
let port: number;
let close: () => Promise<void>;

beforeEach(async () => {
  seen = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers['x-key'] ?? 'no key'}`);
    response.end('fine');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: Pick<AddressInfo, 'port'> = Object(server.address());
  port = address.port;
  close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});
afterEach(() => close());

function open(url: string, canLogin: boolean, addresses: readonly string[] = ['127.0.0.1']) {
  const secrets = createSecretRegistry({
    table: { list: () => [], set: () => {}, remove: () => false, placeholderKey: () => new Uint8Array(32) },
    config: { KEY: { env: 'KEY', hosts: ['127.0.0.1', 'localhost'], header: 'x-key' } },
    env: { KEY: 'the-value-of-the-key' },
    now: Date.now,
  });
  const plan = planServer('one', { url, net: ['127.0.0.1', 'localhost'], headers: { 'X-Key': '$' + '{secret:KEY}' } });
  if (plan.by !== 'http') throw new Error('no URL');
  const network = createMcpNetwork({
    network: { maxResponseBytes: 1000, timeoutMs: 5000, maxRedirects: 3 },
    resolve: async () => addresses,
    secrets,
  });
  return { network, fetch: network.fetchFor('one', plan, { canLogin, received: createReceivedBytes() }) };
}

describe('the network of MCP servers', () => {
  it('puts keys into requests to the origin of the entry, and into no others', async () => {
    const { network, fetch } = open(`http://127.0.0.1:${port}/mcp`, true);
    await (await fetch(`http://127.0.0.1:${port}/mcp`)).text();
    // Another name of the same machine is another origin.
    await (await fetch(`http://localhost:${port}/other`)).text();
    expect(seen).toEqual(['/mcp the-value-of-the-key', '/other no key']);
    await network.close();
  });

  it.each([
    ['a login', true],
    ['the server itself', false],
  ])('leads to no address that the operator did not name, for %s', async (_what, canLogin) => {
    const { network, fetch } = open('https://public.example.com/mcp', canLogin, ['10.1.2.3']);
    for (const url of ['http://10.1.2.3/', 'http://169.254.169.254/latest', 'http://[::1]:1/', 'https://login.example.com/']) {
      await expect(fetch(url), url).rejects.toMatchObject({ code: expect.stringMatching(/network-refused|permission-denied/) });
    }
    expect(seen).toEqual([]);
    await network.close();
  });
});
