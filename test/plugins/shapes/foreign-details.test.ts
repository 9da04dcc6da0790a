import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSmallDaemon } from '../../small-daemon.ts';

/** A schema as zod 3 makes it: it parses, and says what it is in `_def` alone. */
const zod3 = `
  const make = (typeName, facts, parse) => ({ _def: { typeName, ...facts }, '~standard': { version: 1, vendor: 'zod', validate: parse } });
  const text = (description) => make('ZodString', { description }, (value) => typeof value === 'string' ? { value } : { issues: [{ message: 'no text' }] });`;

const files: Record<string, string> = {
  'defaults.ts': `
    import { tool } from 'ai';
    import { z } from 'zod';
    export const page = tool({ description: 'A page', inputSchema: z.object({ size: z.coerce.number().default(20), word: z.string().trim().toLowerCase() }),
      execute: async (args) => args });`,
  'shape_defaults.js': `
    import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
    import { z } from 'zod';
    const server = new McpServer({ name: 's', version: '1.0.0' });
    server.tool('sized', 'Sized', { size: z.coerce.number().default(5) }, async ({ size }) => ({ content: [{ type: 'text', text: String(size + 1) }] }));`,
  'old_zod.js': `
    import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
    ${zod3}
    const server = new McpServer({ name: 'old', version: '1.0.0' });
    server.tool('old_zod', 'Old', { city: text('Where') }, async ({ city }) => ({ content: [{ type: 'text', text: city }] }));`,
  'task.js': `
    export const registerSlow = (server) => server.experimental.tasks.registerToolTask('slow', { description: 'Works on', inputSchema: { type: 'object', properties: { n: { type: 'number' } } } }, {
      createTask: async ({ n }, { taskStore }) => {
        const task = await taskStore.createTask({ ttl: 1000 });
        void (async () => {
          await taskStore.updateTaskStatus(task.taskId, 'working', 'half');
          if (n < 0) await taskStore.updateTaskStatus(task.taskId, 'failed', 'below zero');
          else await taskStore.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text: String(n * 2) }] });
        })();
        return { task };
      },
      getTask: (_args, { taskStore, taskId }) => taskStore.getTask(taskId),
      getTaskResult: (_args, { taskStore, taskId }) => taskStore.getTaskResult(taskId),
    });`,
  'tried.js': `
    import { tool } from '@langchain/core/tools';
    const inner = tool(async ({ n }) => n + 1, { name: 'inner', description: 'Inner', schema: { type: 'object', properties: { n: { type: 'number' } } } });
    export const outer = tool(async ({ n }) => await inner.invoke({ n }) * 10, { name: 'outer', description: 'Outer', schema: { type: 'object', properties: { n: { type: 'number' } } } });
    console.log(await inner.invoke({ n: 1 }));`,
  'app.ts': `
    import { registerAppTool } from '@modelcontextprotocol/ext-apps/server';
    export function registerClock(server) { registerAppTool(server, 'app_clock', { description: 'A clock', inputSchema: {}, _meta: {} }, async () => ({ content: [{ type: 'text', text: 'noon' }] })); }`,
  'runs.ts': `
    const clock = { name: 'run_clock', description: 'A clock', run: async () => 'midnight' };
    export default clock;`,
  'only_one.ts': `
    import { tool } from 'ai';
    const one = tool({ description: 'Has no name', inputSchema: { type: 'object', properties: {} }, execute: async () => 'one' });
    void one;`,
};

const lacking: readonly (readonly [file: string, text: string, message: RegExp, fix: RegExp])[] = [
  [
    'packages.ts',
    `import a from 'not-there-a'; import b from '@not/there-b/deep'; import c from 'not-there-a/more'; export default { description: 'x', handler: () => [a, b, c] };`,
    /^2 packages .*"not-there-a", "@not\/there-b"\.$/,
    /npm install not-there-a @not\/there-b\.$/,
  ],
  [
    'alias.ts',
    `import { a } from '@/lib/a'; export default { description: 'x', handler: () => a };`,
    /"@\/lib\/a".*path alias/,
    /relative path/,
  ],
  [
    'host_tools.ts',
    `import { createBashTool } from '@mariozechner/pi-coding-agent'; export default function (pi: any) { const bash = createBashTool('/'); pi.registerTool({ ...bash, execute: async (id) => bash.execute(id) }); }`,
    /tools that its own host makes/,
    /handler/,
  ],
  [
    'type_only.ts',
    `import type { Plugin, tool } from '@opencode-ai/plugin'; export const Mine: Plugin = async (ctx) => ({ tool: { mine: tool({ description: 'm', args: {}, async execute() {} }) } });`,
    /failed without its own host: Mine: .*tool/,
    /handler/,
  ],
  [
    'method.ts',
    `import { tool } from 'ai'; export const Search = { id: 'search', build(params: any) { return tool({ description: 'x', inputSchema: {}, execute: () => params }); } };`,
    /wants options: Search\.build/,
    /export default Search\.build\(/,
  ],
  [
    'no_tools.js',
    `import { Server } from '@modelcontextprotocol/sdk/server/index.js'; const server = new Server({ name: 'n' }); server.listTools = async () => ({ tools: [] });`,
    /an MCP server that has no tools/,
    /server\.registerTool/,
  ],
  [
    'no_exports.ts',
    `import { zodSchema } from 'ai'; const weather = { description: 'w', inputSchema: zodSchema({}), execute: async () => 1 }; console.log(weather);`,
    /exports nothing/,
    /export default/,
  ],
  [
    'provider.ts',
    `import { tool } from 'ai'; import { z } from 'zod'; export const WebFetch = tool({ id: 'x.fetch', name: 'WebFetch', args: {}, inputSchema: z.object({ url: z.string() }) });`,
    /describes tools \(WebFetch\) without the functions/,
    /handler/,
  ],
];

const misspelt: readonly (readonly [file: string, text: string, warning: string])[] = [
  [
    'adds.ts',
    `export default { name: 'adds', descripton: 'Adds', inputSchema: { type: 'object', properties: {} }, execute: () => 1 };`,
    'Key "descripton" of a tool is not read. Did you mean "description"?',
  ],
  [
    'counts.ts',
    `import { tool } from 'ai'; export const counts = tool({ description: 'C', inputSchem: { type: 'object', properties: {} }, execute: () => 1 });`,
    'Key "inputSchem" of a tool is not read. Did you mean "inputSchema", "input_schema" or "input"?',
  ],
];

const same = `export default { description: 'x', inputSchema: {}, name: 'same', execute: () => 1 };`;

let rig: Awaited<ReturnType<typeof startSmallDaemon>>;
beforeAll(async () => {
  const others = [...lacking, ...misspelt].map(([file, text]) => [file, text]);
  rig = await startSmallDaemon({ ...files, ...Object.fromEntries(others), 'a_first.ts': same, 'b_second.ts': same });
}, 120_000);
afterAll(() => rig.close());
const find = (file: string) => rig.parts.plugins.list().find(({ path }) => path.endsWith(`/${file}`));

describe('details of tool files in other shapes', () => {
  it.each([
    ['page', { word: ' A ', size: '7' }, { word: 'a', size: 7 }],
    ['page', { word: 'b' }, { word: 'b', size: 20 }],
    ['sized', {}, '6'],
    ['sized', { size: '8' }, '9'],
    ['old_zod', { city: 'Rome' }, 'Rome'],
    ['slow', { n: 4 }, '8'],
    ['outer', { n: 2 }, 30],
    ['app_clock', {}, 'noon'],
    ['run_clock', {}, 'midnight'],
    ['only_one', {}, 'one'],
  ])('calls %s with %j', async (ref, args, output) => {
    expect(await rig.call(ref, args)).toMatchObject({ status: 'success', output });
  });

  it('say why a task failed', async () => {
    expect(await rig.call('slow', { n: -1 })).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('below zero') },
    });
  });

  it('have the parameters that a schema of zod 3 tells of', () => {
    const entry = rig.parts.tools.list().find(({ name }) => name === 'old_zod');
    expect(entry?.manifest.input).toMatchObject({
      properties: { city: { type: 'string', description: 'Where' } },
      required: ['city'],
    });
  });
});

describe('tool files that lack something', () => {
  it.each(lacking)('%s says so in one sentence', (file, _text, message, fix) => {
    expect(find(file)).toMatchObject({
      state: 'failed',
      diagnostic: { message: expect.stringMatching(message), fix: expect.stringMatching(fix) },
    });
  });

  it.each(misspelt)('%s serves, and its misspelt key is named', (file, _text, warning) => {
    expect(find(file)).toMatchObject({ state: 'ready', warnings: expect.arrayContaining([warning]) });
  });

  it('names both files whose tools have one name', () => {
    const [failed] = [find('a_first.ts'), find('b_second.ts')].filter((plugin) => plugin?.state === 'failed');
    expect(failed?.diagnostic?.message).toMatch(/a_first\.ts/);
    expect(failed?.diagnostic?.message).toMatch(/b_second\.ts/);
  });
});
