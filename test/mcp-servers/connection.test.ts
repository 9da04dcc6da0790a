import { InMemoryTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { openConnection } from '../../src/mcp-servers/connection.ts';
import { createReceivedBytes } from '../../src/mcp-servers/transport/stream-bounds.ts';

const never = new AbortController().signal;

/** A connection to a server whose lists have no end: each question for one is a flood. */
async function openFlood() {
  const received = createReceivedBytes();
  const flood = async (): Promise<never> => {
    received.add(17 * 1024 * 1024);
    return new Promise<never>(() => {});
  };
  const [transport, other] = InMemoryTransport.createLinkedPair();
  const server = new Server({ name: 'flood', version: '1.0.0' }, { capabilities: { tools: {}, prompts: {}, resources: {} } });
  server.setRequestHandler('tools/list', flood);
  server.setRequestHandler('prompts/list', flood);
  server.setRequestHandler('resources/list', flood);
  server.setRequestHandler('resources/templates/list', flood);
  await server.connect(other);
  return openConnection({
    name: 'flood',
    version: '0.0.0',
    transport,
    received,
    isNewerTried: false,
    connectMs: 60_000,
    probeMs: 60_000,
    onToolsChanged: () => undefined,
    onResourceUpdated: () => undefined,
    askForm: async () => ({ action: 'decline' }),
    askModel: () => Promise.reject(new TypeError('Nobody asks it.')),
    sampling: false,
    signal: never,
  });
}

describe('openConnection', () => {
  it('reads no more of a list than its bound, of tools and of what is offered beside them', async () => {
    const connection = await openFlood();
    const of = (what: string) => ({ code: 'mcp-unreachable', message: `Its ${what} take more than 16777216 bytes.` });
    await expect(connection.listTools(never)).rejects.toMatchObject(of('tools'));
    await expect(connection.listOfferings(never)).rejects.toMatchObject(of('prompts and resources'));
    await connection.close();
  });
});
