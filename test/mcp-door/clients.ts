import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The eras of MCP that clients speak. */
export const eras = ['2025-11-25', '2026-07-28'] as const;

/** Connects a client of one era, as clients that people have do. */
export async function connectClient(
  url: string,
  token: string,
  era: (typeof eras)[number],
  options: ClientOptions = {},
): Promise<Client> {
  const mode = era === '2025-11-25' ? ('legacy' as const) : { pin: era };
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, ...options });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  return client;
}
