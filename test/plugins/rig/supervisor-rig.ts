import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { BorderHost } from '../../../src/border/border.ts';
import { defaultLimits } from '../../../src/config/limits.ts';
import type { PermissionSet } from '../../../src/config/permission-set.ts';
import { Deadline } from '../../../src/engines/deadline.ts';
import type { Engine } from '../../../src/engines/engine.ts';
import type { EventEnvelope, EventLog } from '../../../src/events/event.ts';
import { createEventLog } from '../../../src/events/event-log.ts';
import { createNameRegistry } from '../../../src/names/name-registry.ts';
import { decideGrants } from '../../../src/permissions/decision.ts';
import type { Compiler } from '../../../src/plugins/compile/compile-types.ts';
import type { SchemaReader } from '../../../src/plugins/schema/schema-types.ts';
import { createBuilder } from '../../../src/plugins/supervisor/build/build.ts';
import type { PluginBuilder } from '../../../src/plugins/supervisor/build/builder-types.ts';
import { createSupervisor, type PluginSupervisorControls } from '../../../src/plugins/supervisor.ts';
import { openStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store-types.ts';
import { createToolRegistry, type ToolRegistry } from '../../../src/tools/registry.ts';
import { giveTables } from '../../data-dir.ts';

/** Parts that are costly to start and hold no state of a plugin folder; one set a test file. */
export interface SharedParts {
  readonly engine: Engine;
  readonly compiler: Compiler;
  readonly schemaReader: SchemaReader;
  /** Runs modules, in tests that have some. */
  readonly extism?: Engine;
}

/** A supervisor over real folders, store, registry, compiler and engine. */
export interface Rig {
  readonly home: string;
  readonly plugins: string;
  readonly supervisor: PluginSupervisorControls;
  readonly builder: PluginBuilder;
  readonly registry: ToolRegistry;
  readonly store: Store;
  readonly events: readonly EventEnvelope[];
  readonly log: EventLog;
  /** How often each step of a build ran. */
  readonly builds: { compiled: number; loaded: number };
  /** Changes what is granted; takes effect with `refreshGrants`. */
  grants: PermissionSet;
  call(ref: string, args?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

/** Options of a rig; `home` starts it over what an earlier one left. */
export interface RigOptions {
  readonly home?: string;
  readonly folders?: readonly string[];
  readonly sharedDirs?: readonly string[];
  readonly safe?: boolean;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly keep?: number;
  readonly drainMs?: number;
  /** Whether a call that waits for a person began with a generation. */
  readonly needsGeneration?: (generationId: string) => boolean;
  readonly polling?: boolean;
  /** The build of the daemon; another one than that of the rig before makes its generations anew. */
  readonly program?: string;
  readonly atEnd?: AtEnd;
}

/** Does something when a test ends; tests that run beside each other hand in that of their own context. */
export type AtEnd = (end: () => void | Promise<void>) => void;

/** A folder that is gone after the test. */
export function makeFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-plugins-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a supervisor; it is stopped when the test ends. */
export async function startRig(shared: SharedParts, options: RigOptions = {}): Promise<Rig> {
  const home = options.home ?? makeFolder(options.atEnd);
  const folders = (options.folders ?? ['plugins']).map((name) => join(home, name));
  const dataDir = join(home, 'data');
  giveTables(dataDir);
  const store = openStore({ dataDir });
  const log = createEventLog({ store, now: Date.now });
  const events: EventEnvelope[] = [];
  log.subscribe({}, (event) => events.push(event));
  const names = createNameRegistry({
    table: store.names,
    isThere: existsSync,
    onFault: (error) => {
      throw error;
    },
  });
  const registry = createToolRegistry({ names });
  const builds = { compiled: 0, loaded: 0 };
  const rig = { grants: {} satisfies PermissionSet as PermissionSet };
  const builder = countingBuilder(shared, builds);
  const supervisor = createSupervisor({
    config: {
      pluginDirs: folders,
      wasmDirs: [],
      sharedDirs: options.sharedDirs ?? [],
      dataDir,
      safe: options.safe ?? false,
      pluginAllowList: options.allow ?? [],
      pluginDenyList: options.deny ?? [],
      generations: { keep: options.keep ?? 5, drainMs: options.drainMs ?? 30_000 },
      watch: { polling: options.polling ?? false },
    },
    store,
    events: log,
    builder,
    engines: { quickjs: shared.engine, ...(shared.extism ? { extism: shared.extism } : {}) },
    registry,
    names,
    ...(options.needsGeneration && { needsGeneration: options.needsGeneration }),
    decideGrants: ({ manifest }) => decideGrants(manifest.permissions, { preset: rig.grants, grantRequested: false }),
    madeBy: { terms: 'test', program: options.program ?? 'test' },
    onFault: (error) => {
      throw error;
    },
  });
  await supervisor.start();
  let isStopped = false;
  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await supervisor.close();
    store.close();
  }
  (options.atEnd ?? onTestFinished)(stop);
  return Object.assign(rig, {
    home,
    plugins: folders[0] ?? home,
    supervisor,
    builder,
    registry,
    store,
    events,
    log,
    builds,
    stop,
    call: (ref: string, args: unknown = {}) => callTool(shared, registry, ref, args),
  });
}

/** Waits until `probe` returns something other than false or undefined, asking again every few milliseconds. */
export async function until<Value>(
  probe: () => Value | Promise<Value>,
  what: string,
  deadlineMs = 25_000,
): Promise<Exclude<Value, false | undefined>> {
  const endMs = Date.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (isFound(value)) return value;
    if (Date.now() > endMs) throw new Error(`Waited ${deadlineMs} ms in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}

function isFound<Value>(value: Value): value is Exclude<Value, false | undefined> {
  return value !== undefined && value !== false;
}

/** The text of a plugin whose tool answers `answer`. */
export function answering(answer: string, extra = ''): string {
  return `export default { description: 'Answers.', ${extra} handler: async () => ${JSON.stringify(answer)} };\n`;
}

function countingBuilder(shared: SharedParts, builds: { compiled: number; loaded: number }): PluginBuilder {
  return createBuilder({
    compiler: {
      compile: (request) => {
        builds.compiled += 1;
        return shared.compiler.compile(request);
      },
      close: async () => undefined,
    },
    schemaReader: shared.schemaReader,
    engines: {
      quickjs: {
        load: (request) => {
          builds.loaded += 1;
          return shared.engine.load(request);
        },
      },
      ...(shared.extism ? { extism: shared.extism } : {}),
    },
    limits: defaultLimits,
  });
}

const closedBorder: BorderHost = {
  answer: async () => ({ ok: false, code: 'not-supported', message: 'Nothing is granted here.' }),
  view: () => ({ config: {}, env: {}, denied: {} }),
  log: () => undefined,
  progress: () => undefined,
};

let executions = 0;

async function callTool(shared: SharedParts, registry: ToolRegistry, ref: string, args: unknown): Promise<unknown> {
  const entry = registry.resolve(ref);
  const { runner } = entry.served.unit;
  if (runner.by !== 'engine') throw new Error('This test runs plugins.');
  const release = entry.served.lease();
  executions += 1;
  const engine = runner.engine === 'extism' ? shared.extism : shared.engine;
  if (!engine) throw new Error('This test has no engine for modules.');
  try {
    const outcome = await engine.run(
      {
        executionId: `exe_${executions}`,
        program: runner.program,
        handler: entry.manifest.handler,
        argumentsJson: JSON.stringify(args),
        isolation: 'call',
        cellKey: `exe_${executions}`,
        limits: defaultLimits,
        deadline: new Deadline(20_000),
        caller: 'local',
        session: 'local',
        holder: { callerId: 'tester', unitPath: 'tried.ts', isAdmin: false },
      },
      closedBorder,
      new AbortController().signal,
    );
    if (outcome.status !== 'success') throw new Error(`${outcome.status}: ${outcome.error.message}`);
    return outcome.output;
  } finally {
    release();
  }
}

/** Makes a folder with all above it. */
export function makeDeep(...segments: string[]): string {
  const folder = join(...segments);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The text of a file. */
export function textOf(path: string): string {
  return readFileSync(path, 'utf8');
}
