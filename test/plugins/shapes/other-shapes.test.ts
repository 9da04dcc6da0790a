import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../../small-daemon.ts';

/** Small tool files as people write them for other hosts. None of the libraries that they import is installed beside them. */
const files: Record<string, string> = {
  'mcp_object.ts': `
    export default { name: 'shout', title: 'Shout', inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      handler: async ({ text }: { text: string }) => ({ content: [{ type: 'text', text: text.toUpperCase() }] }) };`,
  'mcp_server.js': `
    import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
    import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
    import { z } from 'zod';
    const server = new McpServer({ name: 'numbers', version: '1.0.0' });
    server.tool('mcp_add', 'Adds two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
    server.registerTool('mcp_fail', { description: 'Fails', inputSchema: {}, annotations: { destructiveHint: false } },
      async () => ({ content: [{ type: 'text', text: 'no such thing' }], isError: true }));
    async function main() { await server.connect(new StdioServerTransport()); console.error('running'); }
    main().catch((error) => { console.error(error); process.exit(1); });`,
  'mcp_low.js': `
    import { Server } from '@modelcontextprotocol/sdk/server/index.js';
    import { CallToolRequestSchema, ListToolsRequestSchema, ListPromptsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
    const server = new Server({ name: 'low', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListPromptsRequestSchema, async () => ({ prompts: [] }));
    server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [
      { name: 'low.echo', description: 'Echoes', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } } ] }));
    server.setRequestHandler(CallToolRequestSchema, async (request) => ({ content: [{ type: 'text', text: request.params.name + ':' + request.params.arguments.text }] }));`,
  'mcp_register.js': `
    import { z } from 'zod';
    export const registerPing = (server) => { server.registerTool('ping', { description: 'Pings', inputSchema: z.object({}) }, async () => ({ content: [{ type: 'text', text: 'pong' }] })); };`,
  'ai_tool.ts': `
    import { tool } from 'ai';
    import { z } from 'zod';
    export const getWeather = tool({ description: 'The weather', inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }, { toolCallId }) => ({ city, hasId: typeof toolCallId === 'string' }) });`,
  'ai_record.ts': `
    import { tool, generateText } from 'ai';
    import { z } from 'zod';
    export const tools = {
      one: tool({ description: 'One', parameters: z.object({}), execute: async () => 1 }),
      two: tool({ description: 'Two', inputSchema: z.object({}), needsApproval: true, execute: async () => 2 }),
      think: tool({ description: 'Thinks', inputSchema: z.object({}), execute: async () => generateText({}) }),
    };`,
  'langchain.ts': `
    import { DynamicStructuredTool, DynamicTool, tool } from '@langchain/core/tools';
    import { z } from 'zod';
    export const times = new DynamicStructuredTool({ name: 'times', description: 'Multiplies', schema: z.object({ a: z.number(), b: z.number() }), func: async ({ a, b }) => String(a * b) });
    export const plain = new DynamicTool({ name: 'plain', description: 'Takes a text', func: async (input) => input + '!' });
    export const minus = tool(({ a, b }) => a - b, { name: 'minus', description: 'Subtracts', schema: z.object({ a: z.number(), b: z.number() }) });`,
  'langchain_class.js': `
    import { Tool } from '@langchain/core/tools';
    export class Reverse extends Tool { name = 'reverse'; description = 'Reverses a text'; async _call(input) { return [...input].reverse().join(''); } }`,
  'agents.ts': `
    import { tool } from '@openai/agents';
    import { z } from 'zod';
    const lookUp = tool({ name: 'look_up', description: 'Looks up', parameters: z.object({ key: z.string() }), async execute({ key }) { return 'value of ' + key; } });
    void lookUp;`,
  'hello_pi.ts': `
    import { Type } from '@mariozechner/pi-ai';
    import { defineTool, type ExtensionAPI } from '@mariozechner/pi-coding-agent';
    const hello = defineTool({ name: 'pi_hello', label: 'Hello', description: 'Greets', parameters: Type.Object({ name: Type.String() }),
      async execute(_toolCallId, params) { return { content: [{ type: 'text', text: 'Hello, ' + params.name }], details: {} }; } });
    export default function (pi: ExtensionAPI) { pi.on('session_start', () => {}); pi.registerTool(hello); }`,
  'database.ts': `
    import { tool } from '@opencode-ai/plugin';
    export default tool({ description: 'Asks the database', args: { query: tool.schema.string().describe('SQL'), limit: tool.schema.number().default(10) },
      async execute(args, context) { return args.query + ' limit ' + args.limit + ' in ' + context.directory; } });`,
  'open_plugin.ts': `
    import { type Plugin, tool } from '@opencode-ai/plugin';
    export const Mine: Plugin = async ({ client, $ }) => ({ tool: { mine: tool({ description: 'Mine', args: {}, async execute() { return 'mine'; } }) }, event: async () => {} });`,
  'mastra.ts': `
    import { createTool } from '@mastra/core/tools';
    import { z } from 'zod';
    export const half = createTool({ id: 'half', description: 'Halves', inputSchema: z.object({ n: z.number() }), execute: async ({ context }) => context.n / 2 });`,
  'area.ts': `
    /** The area of a rectangle. */
    export default function area(width: number, height: number = 2) { return width * height; }`,
  'instance.ts': `
    class Clock { description = 'Tells a time'; parameters = { type: 'object', properties: {} }; private zone = 'UTC'; async execute() { return this.zone; } }
    export default new Clock();`,
  'list.cjs': `module.exports = [ { name: 'first', description: 'First', input_schema: { type: 'object' }, execute: () => 'first' },
    { type: 'function', function: { name: 'second', description: 'Second', parameters: { type: 'object' } }, run: () => 'second' } ];`,
  'exports.ts': `
    export const description = 'Turns a text round';
    export const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    export async function execute({ text }: { text: string }) { return [...text].reverse().join(''); }`,
  'spec.ts': `
    export default { type: 'function', function: { name: 'spec_length', description: 'Counts', parameters: { type: 'object', properties: { s: { type: 'string' } } } },
      handler: ({ s }: { s: string }) => s.length };`,
  'own_list.ts': `
    export default { version: '1.2.0', tools: [
      { name: 'own_half', description: 'Halves', handler: ({ n }: { n: number }) => n / 2 },
      { name: 'own_twice', description: 'Doubles', handler: ({ n }: { n: number }) => n * 2 },
    ] };`,
  'late.js': `
    import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
    const KEY = process.env.LATE_KEY;
    if (!KEY) { console.error('no key'); process.exit(1); }
    const server = new McpServer({ name: 'late', version: '1.0.0' });
    server.tool('late_key', 'Shows the key', async () => ({ content: [{ type: 'text', text: \`key=\${KEY}\` }] }));`,
};

describe('tool files in other shapes', () => {
  let rig: Awaited<ReturnType<typeof startSmallDaemon>>;
  beforeAll(async () => {
    process.env.LATE_KEY = 'k1';
    rig = await startSmallDaemon(files);
  }, 120_000);
  afterAll(async () => {
    delete process.env.LATE_KEY;
    await rig.close();
  });

  it('are all ready, and each says whose format it is written in', () => {
    const plugins = rig.parts.plugins.list();
    const wrong = plugins
      .filter(({ state }) => state !== 'ready')
      .map(({ path, state, diagnostic }) => [path, state, diagnostic?.message]);
    expect(wrong).toEqual([]);
    const shapes = Object.fromEntries(plugins.map(({ path, shape }) => [path.replace('plugins/', ''), shape]));
    expect(shapes).toEqual({
      'mcp_object.ts': 'MCP',
      'mcp_server.js': 'MCP server',
      'mcp_low.js': 'MCP server',
      'mcp_register.js': 'MCP server',
      'ai_tool.ts': 'AI SDK',
      'ai_record.ts': 'AI SDK',
      'langchain.ts': 'LangChain',
      'langchain_class.js': 'LangChain',
      'agents.ts': 'OpenAI Agents',
      'hello_pi.ts': 'pi',
      'database.ts': 'opencode',
      'open_plugin.ts': 'opencode',
      'mastra.ts': 'Mastra',
      'area.ts': 'function',
      'instance.ts': 'AI SDK',
      'list.cjs': 'Anthropic, OpenAI function',
      'exports.ts': 'AI SDK',
      'spec.ts': 'OpenAI function',
      'own_list.ts': undefined,
      'late.js': 'MCP server',
    });
  });

  it.each([
    ['shout', { text: 'a' }, 'A'],
    ['exports', { text: 'abc' }, 'cba'],
    ['spec_length', { s: 'abc' }, 3],
    ['own_half', { n: 4 }, 2],
    ['own_twice@1.2.0', { n: 4 }, 8],
    ['mcp_add', { a: 1, b: 2 }, '3'],
    ['low_echo', { text: 'x' }, 'low.echo:x'],
    ['ping', {}, 'pong'],
    ['getWeather', { city: 'Rome' }, { city: 'Rome', hasId: true }],
    ['one', {}, 1],
    ['times', { a: 2, b: 3 }, '6'],
    ['plain', { input: 'hi' }, 'hi!'],
    ['minus', { a: 5, b: 3 }, 2],
    ['reverse', { input: 'abc' }, 'cba'],
    ['look_up', { key: 'k' }, 'value of k'],
    ['pi_hello', { name: 'Ada' }, 'Hello, Ada'],
    ['database', { query: 'q', limit: 3 }, 'q limit 3 in /'],
    ['mine', {}, 'mine'],
    ['half', { n: 8 }, 4],
    ['area', { width: 3, height: 4 }, 12],
    ['area', { width: 3 }, 6],
    ['instance', {}, 'UTC'],
    ['first', {}, 'first'],
    ['second', {}, 'second'],
    ['late_key', {}, 'key=k1'],
  ])('calls %s', async (ref, args, output) => {
    expect(await rig.call(ref, args)).toMatchObject({ status: 'success', output });
  });

  it('throw what MCP says is an error', async () => {
    expect(await rig.call('mcp_fail')).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('no such thing') },
    });
  });

  it('have the schemas of their libraries and the types of their functions', async () => {
    const find = (name: string) => rig.parts.tools.list().find((entry) => entry.name === name)?.manifest;
    expect(find('mcp_add')?.input).toMatchObject({ type: 'object', required: ['a', 'b'] });
    expect(find('database')?.input).toMatchObject({
      properties: { query: { type: 'string', description: 'SQL' } },
      required: ['query'],
    });
    expect(find('area')).toMatchObject({
      description: 'The area of a rectangle.',
      input: { properties: { height: { default: 2 } }, required: ['width'] },
    });
    expect(find('two')?.flags.isDangerous).toBe(true);
    await expect(rig.call('mcp_add', { a: 'x' })).rejects.toMatchObject({ code: 'arguments-invalid' });
  });

  it('name what of a library is not there when a call reaches for it', async () => {
    const result = await rig.call('think');
    expect(result).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('ai.generateText is not there') },
    });
  });
});

const unusable: readonly (readonly [file: string, text: string, message: RegExp, fix: RegExp])[] = [
  [
    'commands.ts',
    `export default function (pi: any) { pi.registerCommand('x', {}); pi.on('agent_end', () => {}); }`,
    /registers no tool/,
    /handler/,
  ],
  [
    'options.js',
    `import { tool } from 'ai'; export function createRead(options) { return tool({ description: 'r', execute: () => options.a }); }`,
    /wants options: createRead/,
    /createRead\(\{/,
  ],
  [
    'klass.js',
    `import { Tool } from '@langchain/core/tools'; export class Hook extends Tool { name = 'h'; description = 'd'; constructor({ a: { b } }) { super(); this.b = b; } _call() {} }`,
    /class Hook/,
    /new Hook\(/,
  ],
  [
    'defined.ts',
    `export const tools = [{ name: 'a', description: 'A', inputSchema: { type: 'object' } }];`,
    /without the functions/,
    /handler/,
  ],
  [
    'apart.ts',
    `export const tools = [{ type: 'function', function: { name: 'a', description: 'A', parameters: { type: 'object' } } }]; export const table = { a: () => 1 };`,
    /describes tools \(tools\) apart from the functions that do their work \(table\.a\)/,
    /handler: .* table\.a\(/,
  ],
  ['math.ts', `export const add = (a: number, b: number) => a + b;`, /exports functions \(add\)/, /tools: \{ add/],
  [
    'native.ts',
    `import { spawn } from 'node:child_process'; export default function (pi: any) { pi.registerCommand('x', { run: () => spawn('ls') }); }`,
    /registers no tool/,
    /handler/,
  ],
  [
    'files.ts',
    `import fs from 'node:fs'; export const size = (path: string) => fs.statSync(path).size;`,
    /exports functions \(size\)/,
    /tools: \{ size/,
  ],
  [
    'words.ts',
    `export default { description: 'x', returns: {}, handlr: () => 1, argz: {}, handler: () => 1 };`,
    /"returns"\. Here it is called "output"\. "handlr"\. Did you mean "handler"\? "argz"/,
    /Correct the keys/,
  ],
];

describe('files that no tool can be made of', () => {
  let rig: Awaited<ReturnType<typeof startSmallDaemon>>;
  beforeAll(async () => {
    rig = await startSmallDaemon(Object.fromEntries(unusable.map(([file, text]) => [file, text])));
  }, 120_000);
  afterAll(() => rig.close());

  it.each(unusable)('%s fails with one sentence and what to write', (file, _text, message, fix) => {
    expect(rig.parts.plugins.list().find(({ path }) => path.endsWith(`/${file}`))).toMatchObject({
      state: 'failed',
      diagnostic: { message: expect.stringMatching(message), fix: expect.stringMatching(fix) },
    });
  });

  it('ask for nothing', () => {
    expect(rig.parts.approvals.list({ limit: 10 })).toEqual([]);
  });
});

describe('a file that wants an engine', () => {
  const builtins = ['node:v8', 'http2', 'node:inspector'];
  const textOf = (builtin: string) => `import * as wanted from '${builtin}';
      export default { description: 'x', handler: async (_args: object, context) => { await context.kv.set('a', 1); return Object.keys(wanted); } };`;

  it('asks for all that it uses in one question', async () => {
    const files = Object.fromEntries(builtins.map((builtin, index) => [`wants_${index}.ts`, textOf(builtin)]));
    const rig = await startSmallDaemon(files, { grantRequested: false });
    try {
      const requested = { engine: ['deno'], kv: expect.anything() };
      const asking = { permissions: { source: 'inferred', requested, granted: {} } };
      expect(rig.parts.plugins.list()).toMatchObject(builtins.map(() => asking));
      expect(
        rig.parts.approvals
          .list({ limit: 10 })
          .map(({ plugin }) => plugin)
          .sort(),
      ).toEqual(['wants_0', 'wants_1', 'wants_2']);
    } finally {
      await rig.close();
    }
  });
});
