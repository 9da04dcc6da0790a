import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../small-daemon.ts';
import { connectClient, eras } from './clients.ts';

const adder = (sum: string) => `export default {
  description: 'Adds two numbers.',
  version: '1.0.0',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  output: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
  idempotent: true,
  handler: ({ a, b }) => ({ sum: ${sum} }),
};
`;
const files = {
  'add.ts': adder('a + b'),
  'danger.ts': `export default { description: 'Deletes.', isDangerous: true, handler: ({ what }: { what: string }) => 'deleted ' + what };`,
  // Its schema is none in two places: a client that checks what it reads would take no list with it.
  'secret.ts': `export default { description: 'Not for all.', parameters: { type: 'object', properties: { how: 'string' }, required: 'how' }, handler: () => 'seen' };`,
};

let small: Awaited<ReturnType<typeof startSmallDaemon>>;
const clients: Client[] = [];
beforeAll(async () => {
  small = await startSmallDaemon(files, {}, { listen: true });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => small.close());

async function connect(era: (typeof eras)[number], options?: Parameters<typeof connectClient>[3], token = small.daemon.token) {
  const client = await connectClient(small.daemon.url ?? '', token, era, options);
  clients.push(client);
  return client;
}

const makeKey = (rules: object) => small.parts.keys.create({ name: 'test', role: 'caller', rules }).key;

describe.each(eras)('a client of MCP %s', (era) => {
  it('sees the tools with their schemas and flags, in a fixed order', async () => {
    const { tools } = await (await connect(era)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['add', 'call_tool', 'danger', 'search_tools', 'secret']);
    expect(tools[0]).toMatchObject({
      inputSchema: { type: 'object', required: ['a', 'b'] },
      outputSchema: { required: ['sum'] },
      annotations: { idempotentHint: true },
    });
    expect(tools[2]?.annotations).toMatchObject({ destructiveHint: true });
    expect(tools[4]?.inputSchema).toEqual({ type: 'object', properties: { how: {} } });
  });

  it('calls a tool and gets what it returns as text and as data', async () => {
    const result = await (await connect(era)).callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    expect(result).toMatchObject({ content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } });
  });

  it('reads what is wrong with its arguments as a result, and that a tool is not there as an error', async () => {
    const client = await connect(era);
    const result = await client.callTool({ name: 'add', arguments: { a: 'x' } });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('arguments-invalid');
    await expect(client.callTool({ name: 'ad', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  it('sees and calls what its key may, and nothing else', async () => {
    const client = await connect(era, {}, makeKey({ tools: ['add'] }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add']);
    await expect(client.callTool({ name: 'secret', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  it('is told of a saved file, and calls what it says', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const client = await connect(era, { listChanged: { tools: { onChanged: () => resolve() } } });
    writeFileSync(join(small.folder, 'plugins', 'add.ts'), adder(`a + b + ${eras.indexOf(era) + 1}`));
    await promise;
    const result = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    expect(result.structuredContent).toEqual({ sum: 4 + eras.indexOf(era) });
    writeFileSync(join(small.folder, 'plugins', 'add.ts'), adder('a + b'));
  });

  it('asks its person in the middle of a call, where its key may answer', async () => {
    const client = await connect(era, { capabilities: { elicitation: { form: {} } } }, makeKey({ mayAnswer: true }));
    const asked: string[] = [];
    let allow = true;
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return { action: 'accept', content: { allow } };
    });
    expect(await client.callTool({ name: 'danger', arguments: { what: 'all' } })).toMatchObject({
      content: [{ text: 'deleted all' }],
    });
    allow = false;
    expect(await client.callTool({ name: 'danger', arguments: { what: 'all' } })).toMatchObject({ isError: true });
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain('"what": "all"');
  });

  it('is told of no tool that is off, nor of any while custom tools are switched off', async () => {
    const client = await connect(era);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const patch = async (path: string, change: object) => {
      const headers = { authorization: `Bearer ${small.daemon.token}`, 'content-type': 'application/json' };
      const answer = await fetch(`${small.daemon.url}${path}`, { method: 'PATCH', headers, body: JSON.stringify(change) });
      expect(answer.status, await answer.text()).toBe(200);
    };
    await patch('/api/tools/secret', { mode: 'off' });
    expect(await names()).toEqual(['add', 'call_tool', 'danger', 'search_tools']);
    await patch('/api/tools/secret', { mode: null });
    await patch('/api/tools', { custom: false });
    expect(await names()).toEqual(['call_tool', 'search_tools']);
    await patch('/api/tools', { custom: true });
    expect(await names()).toEqual(['add', 'call_tool', 'danger', 'search_tools', 'secret']);
  });
});
