import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { CliFlags } from '../../../config/read/sources.ts';
import type { CliSession } from '../../session.ts';
import { startInBackground } from './start-in-background.ts';
import { type McpEndpoint, StdioBridge } from './stdio-bridge.ts';

/** Serves MCP on standard input and output until the client closes them. Joins the running daemon, else starts one. */
export async function serveStdio(
  session: CliSession,
  { manage = false, ...flags }: CliFlags & { readonly manage?: boolean },
): Promise<void> {
  const client = new StdioServerTransport();
  const ended = Promise.withResolvers<void>();
  const bridge = new StdioBridge({
    client,
    find: () => findEndpoint(session, flags, manage ? '/mcp/manage' : '/mcp'),
    note: session.note,
  });
  client.onclose = ended.resolve;
  process.stdin.once('end', ended.resolve);
  process.stdin.once('close', ended.resolve);
  await client.start();
  await ended.promise;
  await bridge.close();
}

async function findEndpoint(session: CliSession, flags: CliFlags, path: string): Promise<McpEndpoint> {
  const found = await session.locate(flags);
  const address = found.address ?? (await startInBackground(session, flags, found.dataDir));
  return { url: new URL(path, address.url), token: address.token };
}
