import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/callers/caller.ts';
import { prepareOperations } from '../../../src/operations/invoke.ts';
import { startSmallDaemon } from '../../small-daemon.ts';

const files: Record<string, string> = {
  'high.ts': `
    import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
    import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
    import { z } from 'zod';
    const server = new McpServer({ name: 'high', version: '1.0.0' });
    server.registerPrompt('review code', { title: 'Review', description: 'Reviews.', argsSchema: {
      code: z.string().describe('The code'),
      lines: z.coerce.number().default(3),
      style: completable(z.string().optional(), (value, context) => [value + '!', String(context?.arguments?.code)]),
    } }, ({ code, lines }) => ({ messages: [{ role: 'user', content: { type: 'text', text: code + ' ' + (lines + 1) } }] }));
    server.prompt('plain', 'Says hello', () => ({ messages: [{ role: 'assistant', content: { type: 'text', text: 'Hello' } }] }));
    server.registerResource('config', 'config://app', { title: 'Config', mimeType: 'application/json' }, async (uri) => ({
      contents: [{ uri: uri.href, text: '{}' }] }));
    server.resource('user', new ResourceTemplate('users://{id}/profile', { list: undefined, complete: { id: (value) => [value + '1'] } }),
      async (uri, { id }) => ({ contents: [{ uri: uri.href, text: 'user ' + id }] }));
    server.registerResource('files', new ResourceTemplate('files:///{+path}', { list: undefined }), {}, async () => ({ contents: [] }));
    server.registerTool('ask', { description: 'Asks the client for its name.' }, async (extra) => {
      const result = await server.server.elicitInput({ message: 'Who?', requestedSchema: {
        type: 'object', properties: { mail: { type: 'string', format: 'email', pattern: '.*' } }, required: ['mail'] } });
      return { content: [{ type: 'text', text: result.action + ' ' + result.content?.mail }] };
    });
    server.registerTool('sample', { description: 'Asks the model of the client.' }, async (extra) => {
      const roots = await server.server.listRoots();
      const result = await extra.sendRequest({ method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }, z.any());
      return { content: [{ type: 'text', text: roots.roots.length + ' ' + result.content.text }] };
    });`,
  'low.js': `
    import { Server } from '@modelcontextprotocol/sdk/server/index.js';
    import { ListPromptsRequestSchema, GetPromptRequestSchema, ListResourcesRequestSchema, ReadResourceRequestSchema,
      ListResourceTemplatesRequestSchema } from '@modelcontextprotocol/sdk/types.js';
    const server = new Server({ name: 'low', version: '1.0.0' }, { capabilities: { prompts: {}, resources: {} } });
    server.setRequestHandler(ListPromptsRequestSchema, async () => ({ prompts: [{ name: 'sum-up', description: 'Sums up', arguments: [{ name: 'text', required: true }] }] }));
    server.setRequestHandler(GetPromptRequestSchema, async ({ params }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: params.name + ': ' + params.arguments.text } }] }));
    server.setRequestHandler(ListResourcesRequestSchema, async () => ({ resources: [{ uri: 'low://log', name: 'The log', mimeType: 'text/plain' }] }));
    server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({ resourceTemplates: [{ uriTemplate: 'low://rows/{n}', name: 'Rows' }] }));
    server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => ({ contents: [{ uri: params.uri, blob: 'AAE=' }] }));`,
};

const operator: Caller = { id: 'local', role: 'admin' };
let house: Awaited<ReturnType<typeof startSmallDaemon>>;

async function invoke(
  name: string,
  input: unknown,
  clientCan: readonly ('form' | 'sampling' | 'roots')[] = [],
): Promise<unknown> {
  const operation = prepareOperations(house.daemon.operations).get(name);
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  return operation.invoke(input, { caller: operator, signal: new AbortController().signal, clientCan });
}

/** Answers every question of the calls with what fits its method. */
function answerAll(contents: Readonly<Record<string, object>>): () => void {
  return house.parts.events.subscribe({ types: ['approval-request'] }, ({ data }) => {
    if (!('approval' in data) || data.kind !== 'ask') return;
    const { approval: id } = data;
    const method = String(house.parts.approvals.get(id)?.details.method ?? 'form');
    setImmediate(() => void invoke('approvals.answer', { id, answer: 'approve', content: contents[method] }));
  });
}

beforeAll(async () => {
  house = await startSmallDaemon(files);
});
afterAll(() => house.close());

describe('a file that registers prompts and resources with McpServer', () => {
  it('brings them', async () => {
    expect(await invoke('plugins.get', { name: 'high' })).toMatchObject({
      state: 'ready',
      prompts: ['review_code', 'plain'],
      resources: ['config://app', 'users://{id}/profile'],
    });
    expect(await invoke('prompts.list', { q: 'reviews' })).toMatchObject({
      items: [
        {
          name: 'review_code',
          title: 'Review',
          arguments: [{ name: 'code', description: 'The code', required: true }, { name: 'lines' }, { name: 'style' }],
        },
      ],
    });
    expect(await invoke('prompts.get', { name: 'review_code', arguments: { code: 'a', lines: '7' } })).toMatchObject({
      output: { messages: [{ role: 'user', content: { type: 'text', text: 'a 8' } }] },
    });
    expect(await invoke('prompts.get', { name: 'plain' })).toMatchObject({ output: { messages: [{ role: 'assistant' }] } });
    const argument = { name: 'style', value: 'x' };
    const ref = { type: 'prompt', name: 'review_code' };
    expect(await invoke('completions.complete', { ref, argument, context: { code: 'c' } })).toMatchObject({
      values: ['x!', 'c'],
    });
    expect(await invoke('resources.read', { uri: 'config://app' })).toMatchObject({
      output: { contents: [{ uri: 'config://app', mimeType: 'application/json', text: '{}' }] },
    });
    expect(await invoke('resources.read', { uri: 'users://a%20b/profile' })).toMatchObject({
      output: { contents: [{ text: 'user a b' }] },
    });
  });

  it('asks the caller what it would ask its client', async () => {
    const end = answerAll({
      form: { mail: 'ann@example.com' },
      'roots/list': { roots: [{ uri: 'file:///a' }] },
      'sampling/createMessage': { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi' } },
    });
    expect(await invoke('tools.call', { ref: 'ask' })).toMatchObject({ output: 'accept ann@example.com' });
    expect(await invoke('tools.call', { ref: 'sample' }, ['sampling', 'roots'])).toMatchObject({ output: '1 Hi' });
    end();
    expect(await invoke('tools.call', { ref: 'sample' })).toMatchObject({ status: 'error', error: { code: 'client-cannot' } });
  });
});

describe('a file that answers lists of prompts and resources itself', () => {
  it('brings what it lists', async () => {
    expect(await invoke('plugins.get', { name: 'low' })).toMatchObject({
      state: 'ready',
      prompts: ['sum-up'],
      resources: ['low://log', 'low://rows/{n}'],
    });
    expect(await invoke('prompts.get', { name: 'sum-up', arguments: { text: 'x' } })).toMatchObject({
      output: { messages: [{ content: { text: 'sum-up: x' } }] },
    });
    expect(await invoke('resources.read', { uri: 'low://rows/7' })).toMatchObject({
      output: { contents: [{ uri: 'low://rows/7', blob: 'AAE=' }] },
    });
  });
});
