import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCapabilityTable } from '../src/capabilities/capability-table.ts';
import { defaultLimits, type Limits, resolveLimits } from '../src/config/limits.ts';
import { loadConfig } from '../src/config/load.ts';
import type { BorderHost } from '../src/engines/border.ts';
import type { Program, RunOutcome } from '../src/engines/engine.ts';
import { createQuickJsEngine } from '../src/engines/quickjs/engine.ts';
import { nodeBuiltins, refusedBuiltins } from '../src/engines/quickjs/node-builtins.ts';
import { parsePermissions } from '../src/permissions/parse.ts';
import { createCompiler } from '../src/plugins/compile/compile.ts';
import { openStore } from '../src/store/open.ts';
import { createUser } from './capabilities/capability-user.ts';

const pluginDir = fileURLToPath(new URL('../plugins/', import.meta.url));
const names = readdirSync(pluginDir);
const folder = mkdtempSync(join(tmpdir(), 'hotcell-examples-'));
const dataDir = join(folder, 'data');
const config = loadConfig({ flags: { data: dataDir }, env: {}, cwd: folder, parsePermissions });
const store = openStore({ dataDir });
const table = createCapabilityTable({ config, store, logFault: (_id, error) => expect(error).toBeUndefined() });
const engine = await createQuickJsEngine({ dataDir, workers: { min: 1, max: 2 } });
const compiler = createCompiler({ sharedDirs: [], builtins: nodeBuiltins, refusedBuiltins });
const never = new AbortController().signal;

interface Example {
  readonly args: unknown;
  readonly expect?: unknown;
}

interface LoadedTool {
  readonly description: string;
  readonly examples: readonly Example[];
}

interface LoadedPlugin {
  readonly name: string;
  readonly program: Program;
  readonly permissions: unknown;
  readonly isolation: 'call' | 'plugin';
  readonly limits: Limits;
  readonly tools: Readonly<Record<string, LoadedTool>>;
}

afterAll(async () => {
  await Promise.all([engine.close(), compiler.close(), table.close()]);
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Compiles and loads one of plugins/ as the daemon does. */
async function loadExample(name: string): Promise<LoadedPlugin> {
  const isFolder = !name.includes('.');
  const home = isFolder ? join(pluginDir, name) : pluginDir;
  const entry = isFolder ? join(home, 'index.ts') : join(pluginDir, name);
  const compiled = await compiler.compile({ entry, rootDir: pluginDir, pluginDir: home });
  if (!compiled.ok) throw new Error(compiled.diagnostic.message);
  const { code } = compiled;
  const loaded = await engine.load({ key: name, label: name, code, limits: defaultLimits });
  if (!loaded.ok) throw new Error(loaded.error.message);
  const program = {
    key: name,
    label: name,
    readCode: async () => code,
    readImage: async () => loaded.image,
    saveImage: () => undefined,
  };
  return readLoaded(loaded.exported, program);
}

/** The exported data of an example; a shape that is not as expected fails the test that loads it. */
function readLoaded(exported: unknown, program: Program): LoadedPlugin {
  // A CommonJS module has no default export; its properties come as named ones.
  const { default: byDefault, named } = asRecord(exported);
  const main = asRecord(byDefault ?? named);
  const tools = main.tools === undefined ? { default: main } : asRecord(main.tools);
  return {
    name: String(main.name),
    program,
    permissions: main.permissions ?? {},
    isolation: main.isolation === 'plugin' ? 'plugin' : 'call',
    limits: resolveLimits(asRecord(main.limits ?? {})),
    tools: Object.fromEntries(Object.entries(tools).map(([key, tool]) => [key, readTool(asRecord(tool))])),
  };
}

function readTool(tool: Record<string, unknown>): LoadedTool {
  expect(tool.handler).toEqual({ $function: true });
  const examples = Array.isArray(tool.examples) ? tool.examples.map(asRecord) : [];
  return { description: String(tool.description), examples: examples.map((example) => ({ args: example.args, ...example })) };
}

function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new TypeError(`expected an object, got ${JSON.stringify(value)}`);
  return { ...value };
}

function callTool(
  plugin: LoadedPlugin,
  handler: string,
  args: unknown,
  granted: unknown = plugin.permissions,
): Promise<RunOutcome> {
  const user = createUser(granted, { plugin: plugin.name });
  const host: BorderHost = {
    answer: (request, signal) => table.answer(request, user, signal),
    view: () => ({ config: {}, env: {}, denied: {} }),
    log: () => undefined,
    progress: () => undefined,
  };
  const request = {
    executionId: 'exe_1',
    program: plugin.program,
    handler,
    argumentsJson: JSON.stringify(args),
    isolation: plugin.isolation,
    cellKey: plugin.name,
    limits: plugin.limits,
    deadlineMs: Date.now() + plugin.limits.wallMs,
    caller: 'local',
    session: 'default',
  };
  return engine.run(request, host, never);
}

describe.each(names)('plugins/%s', (name) => {
  let plugin: LoadedPlugin;

  beforeAll(async () => {
    plugin = await loadExample(name);
  });

  it('asks for permissions that exist', () => {
    expect(parsePermissions(plugin.permissions)).toMatchObject({ ok: true });
  });

  it('describes every tool to a model', () => {
    for (const tool of Object.values(plugin.tools)) expect(tool.description.length).toBeGreaterThan(30);
  });

  it('answers its examples in the sandbox', async () => {
    for (const [handler, tool] of Object.entries(plugin.tools)) {
      for (const example of tool.examples) {
        const outcome = await callTool(plugin, handler, example.args);
        const expected = example.expect === undefined ? { status: 'success' } : { status: 'success', output: example.expect };
        expect(outcome).toMatchObject(expected);
      }
    }
  });
});

describe('the example plugins', () => {
  it('show every form: file, folder, CommonJS, several tools, npm package, network, files, values, shared cell', async () => {
    const plugins = await Promise.all(names.map(loadExample));
    expect(plugins.length).toBeGreaterThanOrEqual(10);
    expect(plugins.filter((plugin) => Object.keys(plugin.tools).length > 1).length).toBeGreaterThanOrEqual(2);
    expect(plugins.filter((plugin) => plugin.isolation === 'plugin').map((plugin) => plugin.name)).toEqual(['scoreboard']);
    const requested = new Set(plugins.flatMap((plugin) => Object.keys(asRecord(plugin.permissions))));
    expect([...requested].sort()).toEqual(['kv', 'net', 'read', 'sharedCell']);
    expect(await readFile(join(pluginDir, 'invoice-total.ts'), 'utf8')).toContain("from 'zod'");
  });

  it('say what to grant when the network is refused', async () => {
    const weather = await loadExample('weather.ts');
    expect(await callTool(weather, 'default', { city: 'Lyon' }, {})).toMatchObject({
      status: 'error',
      error: { message: expect.stringMatching(/Tool "weather" may not reach geocoding-api\.open-meteo\.com/) },
    });
  });

  it('keep notes between calls, and find and delete them', async () => {
    const notes = await loadExample('notes.ts');
    await callTool(notes, 'note_save', { title: 'Milk', text: 'two bottles', tags: ['Shop'] });
    expect(await callTool(notes, 'note_find', { query: 'bottles', tag: 'shop' })).toMatchObject({
      output: { total: 1, notes: [{ title: 'Milk', text: 'two bottles' }] },
    });
    expect(await callTool(notes, 'note_delete', { title: ' milk ' })).toMatchObject({ output: { deleted: true } });
  });

  it('share the scoreboard between calls', async () => {
    const scoreboard = await loadExample('scoreboard.ts');
    await callTool(scoreboard, 'score_add', { board: 'chess', name: 'Ada', points: 2 });
    await callTool(scoreboard, 'score_add', { board: 'chess', name: 'Bob', points: 3 });
    expect(await callTool(scoreboard, 'score_list', { board: 'chess' })).toMatchObject({
      output: {
        names: 2,
        ranking: [
          { name: 'Bob', score: 3 },
          { name: 'Ada', score: 2 },
        ],
      },
    });
  });

  it('stop a pattern that backtracks without end', async () => {
    const tester = await loadExample('regex-tester.ts');
    expect(await callTool(tester, 'default', { pattern: '(a+)+$', text: `${'a'.repeat(40)}!` })).toMatchObject({
      status: 'timeout',
      error: { code: 'time-exceeded' },
    });
  });
});
