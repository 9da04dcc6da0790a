import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapabilityTable } from '../../src/border/capability.ts';
import type { Caller } from '../../src/callers/caller.ts';
import type { ToolCallerParts } from '../../src/calls/call-parts.ts';
import type { ExecutionReader } from '../../src/calls/call-types.ts';
import { createExecutionReader } from '../../src/calls/record/execution-reader.ts';
import { createToolCaller, type ToolCallerHandle } from '../../src/calls/tool-caller.ts';
import { defaultLimits } from '../../src/config/limits.ts';
import type { PermissionSet } from '../../src/config/permission-set.ts';
import type { Engine } from '../../src/engines/engine.ts';
import type { EventEnvelope, EventLog } from '../../src/events/event.ts';
import { createEventLog } from '../../src/events/event-log.ts';
import { type Approvals, createApprovals } from '../../src/permissions/approvals/approvals.ts';
import type { PluginManifest } from '../../src/plugins/generations/generation.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store-types.ts';
import { createToolRegistry, type ToolRegistry } from '../../src/tools/registry.ts';
import type { ToolManifest } from '../../src/units/tool-manifest.ts';
import type { ServedUnit } from '../../src/units/unit.ts';
import { giveTables, giveWarmCache } from '../data-dir.ts';
import { openSharedQuickJs } from '../kept-threads.ts';

/** The parts that a call passes, all real but for what stands behind the border. */
export interface CallingHouse {
  readonly dataDir: string;
  readonly caller: ToolCallerHandle;
  readonly registry: ToolRegistry;
  readonly reader: ExecutionReader;
  readonly store: Store;
  readonly events: EventLog;
  readonly seen: EventEnvelope[];
  readonly faults: unknown[];
  readonly leases: { open: number };
  readonly approvals: Approvals;
  /** Publishes a plugin whose default export is written as JavaScript. */
  publish(name: string, plugin: string, options?: PublishOptions): Promise<ServedUnit>;
  close(): Promise<void>;
}

export interface PublishOptions {
  readonly version?: string;
  readonly tool?: Partial<ToolManifest>;
  readonly manifest?: Partial<PluginManifest>;
  readonly granted?: PermissionSet;
}

export interface HouseOptions {
  readonly queue?: Partial<ToolCallerParts['config']['queue']>;
  readonly idempotency?: ToolCallerParts['config']['idempotency'];
  readonly parts?: Partial<ToolCallerParts>;
  readonly enabled?: boolean;
  readonly engine?: Engine;
  readonly answer?: CapabilityTable['answer'];
  readonly dataDir?: string;
}

export const admin: Caller = { id: 'local', role: 'admin' };
export const ann: Caller = { id: 'ann', role: 'caller' };
export const bob: Caller = { id: 'bob', role: 'caller' };

let generations = 0;

/** An engine by itself, for tests that put something between it and the house. */
export async function startEngine(): Promise<{ engine: Engine; close: () => Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-calls-'));
  giveWarmCache(dataDir);
  const engine = await openSharedQuickJs({ dataDir, workers: { min: 2, max: 2 } });
  return {
    engine,
    async close() {
      await engine.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Opens a house in a data folder of its own. */
export async function openHouse(options: HouseOptions = {}): Promise<CallingHouse> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'hotcell-calls-'));
  giveTables(dataDir);
  const store = openStore({ dataDir });
  const events = createEventLog({ store, now: Date.now });
  const workers = { min: 2, max: 2 };
  giveWarmCache(dataDir);
  const engine = options.engine ?? (await openSharedQuickJs({ dataDir, workers }));
  const registry = createToolRegistry();
  const seen: EventEnvelope[] = [];
  const faults: unknown[] = [];
  const leases = { open: 0 };
  events.subscribe({}, (event) => seen.push(event));
  const approvals = createApprovals({
    store,
    events,
    limits: { expireMs: 60_000, maxOpen: 200, maxOpenPerCaller: 100 },
    now: Date.now,
    onFault: (error) => faults.push(error),
  });
  const caller = createToolCaller({
    config: {
      tools: { enabled: options.enabled ?? true, custom: true, maxDepth: 8 },
      safeMode: 'off',
      queue: { maxPending: 10_000, maxPendingPerCaller: 10_000, maxRunning: 10_000, ...options.queue },
      limits: {},
      limitsWithoutGrant: {},
      pluginLimits: {},
      executions: { keep: 100_000, maxBytes: 1e9, maxValueBytes: 1e6, keepRecordingsPerTool: 3, maxRecordingBytes: 1_000_000 },
      idempotency: options.idempotency ?? { keepMs: 3_600_000, sideEffectMs: 60_000 },
      workers,
    },
    registry,
    engines: { quickjs: engine },
    store,
    events,
    capabilities: {
      answer: options.answer ?? (async ({ op }) => ({ ok: true, payload: JSON.stringify(op) })),
      leavesTrace: () => true,
      longWait: () => undefined,
      dial: () => Promise.reject(new Error('nobody dials here')),
      workspace: async () => ({ dir: dataDir, read: [], write: [] }),
      endCall: () => {},
    },
    approvals,
    explainError: async ({ code, message, frames }) => ({ code, message, frames, fix: 'Mend it.' }),
    readView: () => ({ config: {}, env: {}, denied: {} }),
    onFault: (error) => faults.push(error),
    ...options.parts,
  });
  return {
    dataDir,
    caller,
    registry,
    reader: createExecutionReader({ store }),
    store,
    events,
    seen,
    faults,
    leases,
    approvals,
    async publish(name, plugin, publishOptions = {}) {
      const published = await makePublished(engine, leases, name, plugin, publishOptions);
      registry.publish(published);
      return published;
    },
    async close() {
      await caller.close();
      approvals.close();
      if (options.engine === undefined) await engine.close();
      store.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function makePublished(
  engine: Engine,
  leases: { open: number },
  name: string,
  plugin: string,
  options: PublishOptions,
): Promise<ServedUnit> {
  const code = `globalThis.__hotcellExports = { default: ${plugin} };`;
  const number = ++generations;
  const key = `${name}-${number}`;
  const loaded = await engine.load({ key, label: name, code, limits: defaultLimits });
  if (!loaded.ok) throw new Error(`${loaded.error.code}: ${loaded.error.message}`);
  const manifest = makeManifest(name, options);
  return {
    unit: {
      kind: 'plugin',
      id: key,
      path: `/plugins/${name}@${options.version ?? '1.0.0'}.ts`,
      author: 'operator',
      contentHash: key,
      manifest,
      runner: {
        by: 'engine',
        engine: manifest.engine,
        program: { key, label: name, readCode: async () => code, readImage: async () => undefined, saveImage: () => {} },
        handsOver: manifest.hooks.onReload,
      },
    },
    granted: () => options.granted ?? {},
    lease() {
      leases.open++;
      return () => void leases.open--;
    },
  };
}

/** A manifest with one tool of the plugin's name. */
export function makeManifest(name: string, { version = '1.0.0', tool = {}, manifest = {} }: PublishOptions = {}): PluginManifest {
  return {
    name,
    version,
    description: name,
    engine: 'quickjs',
    isolation: 'call',
    limits: {},
    permissions: {},
    permissionsSource: 'declared',
    tools: [
      {
        name,
        handler: 'default',
        description: name,
        input: { type: 'object' },
        inputSource: 'none',
        flags: {
          isResearch: false,
          isSideEffect: false,
          isDeep: false,
          isDangerous: false,
          isElevated: false,
          isParallelSafe: true,
        },
        tags: [],
        mode: 'on',
        retries: 0,
        idempotent: false,
        examples: [],
        ...tool,
      },
    ],
    hooks: { onStart: false, onReload: false, healthcheck: false },
    warnings: [],
    ...manifest,
  };
}

/** Resolves when an event of this kind comes (or came) that the test lets through. */
export async function waitForEvent(house: CallingHouse, accepts: (event: EventEnvelope) => boolean): Promise<EventEnvelope> {
  const known = house.seen.find(accepts);
  if (known !== undefined) return known;
  const { promise, resolve } = Promise.withResolvers<EventEnvelope>();
  const end = house.events.subscribe({}, (event) => {
    if (accepts(event)) resolve(event);
  });
  const event = await promise;
  end();
  return event;
}
