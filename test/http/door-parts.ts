import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { HotcellError } from '../../src/errors/hotcell-error.ts';
import { createEventLog } from '../../src/events/event-log.ts';
import { createAuthenticator } from '../../src/http/auth.ts';
import { startHttpServer } from '../../src/http/server.ts';
import { createKeyRing } from '../../src/operations/key-ring.ts';
import type { OperationParts } from '../../src/operations/parts.ts';
import { createOperations } from '../../src/operations/table.ts';
import type { ToolManifest } from '../../src/plugins/manifest-types.ts';
import type { PluginView } from '../../src/plugins/plugin-types.ts';
import type { PluginSupervisor, ReloadResult } from '../../src/plugins/supervisor-types.ts';
import { openStore } from '../../src/store/open.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';
import type { PublishedGeneration } from '../../src/tools/tool-types.ts';
import type { ExecutionReader, ToolCaller } from '../../src/tools/tools-api.ts';
import { testConfig } from './test-config.ts';

/** A door over a real store, event log, registry and key ring; plugins and calls are small programs of this file. */
export async function openDoor(options: { dataDir?: string } = {}) {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'hotcell-door-'));
  const config = testConfig(dataDir);
  const store = openStore({ dataDir });
  const events = createEventLog({ store, now: Date.now });
  const tools = createToolRegistry();
  tools.publish('echo.ts', publishedEcho());
  const calls = createCallProgram();
  const parts: OperationParts = {
    config,
    plugins: createPluginProgram(),
    tools,
    caller: calls.caller,
    executions: calls.reader,
    events,
    store,
    keys: createKeyRing({ store, now: Date.now }),
    version: '9.9.9',
    startedAtMs: Date.now(),
  };
  const authenticator = createAuthenticator({ dataDir, env: {}, keys: parts.keys });
  const operations = createOperations(parts);
  const server = await startHttpServer({
    config,
    operations,
    events,
    authenticate: authenticator.authenticate,
    log: pino({ level: 'silent' }),
  });
  const token = authenticator.adminToken;
  return {
    ...parts,
    url: server.url,
    token,
    dataDir,
    calls,
    operations,
    fetch: (path: string, init: RequestInit = {}) =>
      fetch(server.url + path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } }),
    async close() {
      await server.close();
      store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** What `openDoor` gives. */
export type Door = Awaited<ReturnType<typeof openDoor>>;

function createPluginProgram(): PluginSupervisor {
  let text = 'export default {}';
  const view: PluginView = {
    name: 'echo',
    version: '1.0.0',
    path: 'echo.ts',
    description: 'Says it again.',
    state: 'ready',
    engine: 'quickjs',
    isolation: 'call',
    generation: 1,
    tools: ['echo@1.0.0'],
    warnings: [],
    permissions: { source: 'declared', requested: {}, granted: {}, pending: {} },
  };
  const result = (ok: boolean): ReloadResult => ({
    name: 'echo',
    ok,
    changed: true,
    state: ok ? 'ready' : 'degraded',
    generation: 1,
    durationMs: 3,
    ...(ok
      ? {}
      : {
          diagnostic: {
            code: 'compile-failed',
            message: 'Unexpected "}".',
            file: 'echo.ts',
            line: 3,
            column: 1,
            fix: 'Mend it.',
          },
        }),
  });
  const get = (name: string): PluginView => {
    if (name === 'echo' || name === 'echo.ts') return view;
    throw new HotcellError('plugin-unknown', `There is no plugin "${name}".`);
  };
  return {
    start: async () => {},
    list: () => [view],
    get,
    why: () => [{ atMs: 1, from: 'loading', to: 'ready', reason: 'loaded', generation: 1 }],
    reload: async (name) => {
      get(name);
      return result(!text.includes('broken'));
    },
    reloadAll: async () => [result(true)],
    setEnabled: async (name, enabled) => ({ ...get(name), state: enabled ? 'ready' : 'disabled' }),
    readSource: async () => ({ file: 'echo.ts', text }),
    writeSource: async (_name, next) => {
      text = next;
      return result(!text.includes('broken'));
    },
    remove: async () => {},
    generations: () => [],
    rollback: async () => result(true),
    findGeneration: () => undefined,
    close: async () => {},
  };
}

function createCallProgram() {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  const caller: ToolCaller = {
    async call(request) {
      if (request.ref === 'missing') throw new HotcellError('tool-unknown', 'There is no tool "missing".');
      if (request.ref === 'waits') {
        started.resolve();
        await new Promise<void>((resolve) => request.signal?.addEventListener('abort', () => resolve()));
        ended.resolve('cancelled');
        return { executionId: 'exe_2', status: 'cancelled', durationMs: 1 };
      }
      const { ref, signal: _signal, ...rest } = request;
      return { executionId: 'exe_1', status: 'success', output: { tool: ref, ...rest }, durationMs: 1 };
    },
    cancel: () => true,
    load: () => ({ pending: 0, running: 0 }),
    drain: async () => {},
  };
  const reader: ExecutionReader = {
    list: () => ({ items: [], total: 0 }),
    get: (id) => {
      throw new HotcellError('execution-unknown', `There is no execution "${id}".`);
    },
  };
  return { caller, reader, started: started.promise, cancelled: ended.promise };
}

function publishedEcho(): PublishedGeneration {
  const tool: ToolManifest = {
    name: 'echo',
    handler: 'default',
    description: 'Says it again.',
    input: { type: 'object' },
    inputSource: 'parameters',
    flags: {
      isResearch: false,
      isSideEffect: false,
      isDeep: false,
      isDangerous: false,
      isElevated: false,
      isParallelSafe: true,
    },
    tags: ['text'],
    mode: 'on',
    retries: 0,
    idempotent: true,
    examples: [{ args: { text: 'a' }, expect: 'a' }],
  };
  const manifest = {
    name: 'echo',
    version: '1.0.0',
    description: 'Says it again.',
    engine: 'quickjs',
    isolation: 'call',
    limits: {},
    permissions: {},
    permissionsSource: 'declared',
    tools: [tool],
    hooks: { onStart: false, onReload: false, healthcheck: false },
    warnings: [],
  } as const;
  return {
    generation: {
      id: 'gen_1',
      pluginPath: 'echo.ts',
      number: 1,
      author: 'operator',
      contentHash: 'h',
      createdAtMs: 1,
      manifest,
      inputs: [],
      program: { key: 'k', label: 'echo', readCode: async () => '', readImage: async () => undefined, saveImage: () => {} },
    },
    manifest,
    granted: () => ({}),
    lease: () => () => {},
  };
}

/** The JSON of an answer; tests look into it freely. */
export async function readJson(response: Response): Promise<ReturnType<typeof JSON.parse>> {
  return JSON.parse(await response.text());
}
