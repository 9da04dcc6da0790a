import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';
import { connectClient, eras } from './clients.ts';

const notes = (text: string) => `export default {
  description: 'Notes.',
  prompts: {
    review: {
      description: 'Reviews a note.',
      arguments: { tone: { description: 'How', required: true, complete: ['kind', 'keen', 'strict'] } },
      handler: ({ tone }) => 'Review it in a ' + tone + ' tone.',
    },
  },
  resources: {
    today: { uri: 'notes://today', description: 'Today.', mimeType: 'text/plain', read: () => '${text}' },
    day: { uriTemplate: 'notes://day/{day}', description: 'A day.', mimeType: 'text/plain', read: ({ day }) => 'the ' + day },
    broken: { uri: 'notes://broken', description: 'Fails.', read: () => { throw new Error('out of paper'); } },
  },
};
`;
let small: Awaited<ReturnType<typeof startSmallDaemon>>;
const clients: Client[] = [];
beforeAll(async () => {
  small = await startSmallDaemon({ 'notes.ts': notes('buy bread') }, {}, { listen: true });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => small.close());

async function connect(era: (typeof eras)[number], token = small.daemon.token, options?: Parameters<typeof connectClient>[3]) {
  const client = await connectClient(small.daemon.url ?? '', token, era, options);
  clients.push(client);
  return client;
}

describe.each(eras)('prompts and resources for a client of MCP %s', (era) => {
  it('are listed, read and completed', async () => {
    const client = await connect(era);
    expect((await client.listPrompts()).prompts).toMatchObject([
      { name: 'review', arguments: [{ name: 'tone', required: true }] },
    ]);
    expect((await client.getPrompt({ name: 'review', arguments: { tone: 'kind' } })).messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Review it in a kind tone.' } },
    ]);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['notes://broken', 'notes://today']);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ uriTemplate: 'notes://day/{day}' }]);
    expect((await client.readResource({ uri: 'notes://day/monday' })).contents).toMatchObject([{ text: 'the monday' }]);
    const ref = { type: 'ref/prompt', name: 'review' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'tone', value: 'k' } });
    expect(completion.values).toEqual(['kind', 'keen']);
  });

  it('that are not there, or that fail, are errors of the protocol', async () => {
    const client = await connect(era);
    await expect(client.readResource({ uri: 'notes://tomorrow' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.readResource({ uri: 'notes://broken' })).rejects.toThrow(/out of paper/);
    await expect(client.getPrompt({ name: 'revue' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.getPrompt({ name: 'review' })).rejects.toThrow(/tone/);
  });

  it('are those that the key may see', async () => {
    const { key } = small.parts.keys.create({ name: 'few', role: 'caller', rules: { tools: ['other'] } });
    const client = await connect(era, key);
    expect((await client.listPrompts()).prompts).toEqual([]);
    expect((await client.listResources()).resources).toEqual([]);
    await expect(client.readResource({ uri: 'notes://today' })).rejects.toMatchObject({ code: -32602 });
  });

  it('tell who watches a resource that it is another one after a save', async () => {
    const client = await connect(era);
    const told = Promise.withResolvers<string>();
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => told.resolve(params.uri));
    if (era === '2025-11-25') await client.subscribeResource({ uri: 'notes://today' });
    else await client.listen({ resourceSubscriptions: ['notes://today'] });
    writeFileSync(join(small.folder, 'plugins', 'notes.ts'), notes(`buy ${era}`));
    expect(await told.promise).toBe('notes://today');
    expect((await client.readResource({ uri: 'notes://today' })).contents).toMatchObject([{ text: `buy ${era}` }]);
    if (era !== '2025-11-25') return;
    await Promise.all(Array.from({ length: 999 }, (_, each) => client.subscribeResource({ uri: `notes://${each}` })));
    await expect(client.subscribeResource({ uri: 'notes://more' })).rejects.toMatchObject({ code: -32602 });
  });
});
