import type { Client } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { connectClient, eras } from '../mcp-door/clients.ts';
import { startSmallDaemon } from '../small-daemon.ts';
import { fixture, type McpHouse, nodeServer, openMcpHouse } from './mcp-house.ts';

const closers: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(...args: Parameters<typeof openMcpHouse>): Promise<McpHouse> {
  const house = await openMcpHouse(...args);
  closers.push(house.close);
  await house.admit('there');
  return house;
}

/** A client that watches a resource; `told` is what it heard of. */
async function watch({ daemon }: McpHouse, era: (typeof eras)[number], uri: string) {
  const client: Client = await connectClient(daemon.url ?? '', daemon.token, era);
  const leave = () => client.close();
  closers.push(leave);
  const told: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
  if (era === '2025-11-25') {
    await client.subscribeResource({ uri });
    return { told, leave: () => client.unsubscribeResource({ uri }) };
  }
  const { close } = await client.listen({ resourceSubscriptions: [uri] });
  return { told, leave: close };
}

const older = { there: nodeServer(fixture('watched.mjs')) };

async function untilWatched(house: McpHouse, uris: string): Promise<void> {
  while ((await house.call('there/watched')).output !== uris);
}

describe.each(eras)('a resource of a server, watched by a client of MCP %s', (era) => {
  it('is asked for news as long as it is watched, and the client is told of them', async () => {
    const house = await open(older, {}, { listen: true });
    await untilWatched(house, '');
    const day = await watch(house, era, 'notes://day');
    const ann = await watch(house, era, 'notes://of/ann');
    await watch(house, era, 'plugins://none');
    await untilWatched(house, 'notes://day notes://of/ann');
    await house.call('there/touch', { uri: 'notes://night' });
    await house.call('there/touch', { uri: 'plugins://none' });
    await house.call('there/touch', { uri: 'notes://of/ann' });
    await house.until(() => ann.told.length > 0);
    expect([day.told, ann.told]).toEqual([[], ['notes://of/ann']]);
    await ann.leave();
    await untilWatched(house, 'notes://day');
    // Once more after it was there anew.
    house.parts.mcp.restart('there');
    await house.until(() => day.told.length > 0);
    await untilWatched(house, 'notes://day');
    expect(house.events.filter(({ type }) => type === 'resource-update').map(({ subject }) => subject)).toEqual([
      'there/notes of somebody',
      'there/day',
    ]);
  });

  it('is told of together, however often the server says so', async () => {
    const house = await open(older, {}, { listen: true });
    const { told } = await watch(house, era, 'notes://day');
    await untilWatched(house, 'notes://day');
    await house.call('there/touch', { uri: 'notes://day', times: 3000 });
    await house.until(() => told.length > 1);
    expect(house.events.filter(({ type }) => type === 'resource-update').length).toBeLessThan(300);
  });

  it('of a server of the newer era is told of, too', async () => {
    const behind = await startSmallDaemon(
      {
        'notes.ts': `export default {
          name: 'notes', description: 'Notes.',
          tools: { touch: { description: 'Tells.', handler: (_args, context) => context.resources.changed('notes://day') } },
          resources: { day: { uri: 'notes://day', description: 'Today.', read: () => 'bread' } },
        };`,
      },
      {},
      { listen: true },
    );
    closers.push(behind.close);
    const headers = { Authorization: `Bearer ${behind.daemon.token}` };
    const house = await open({ there: { url: `${behind.daemon.url}/mcp`, headers } }, {}, { listen: true });
    expect(house.parts.mcp.get('there').era).toBe('2026-07-28');
    const { told } = await watch(house, era, 'notes://day');
    while (told.length === 0) await behind.call('touch');
    expect(told).toContain('notes://day');
  });
});
