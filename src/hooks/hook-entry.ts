import { type Limits, limitTable } from '../config/limits.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import type { ToolEntry } from '../tools/tool-types.ts';
import type { PluginManifest, ToolManifest } from '../units/manifest.ts';
import type { BuiltHook } from './build-hook.ts';
import type { HookFiles, HookManifest, HookPlace } from './hook-types.ts';

/** No tool has a name with a colon, so none can be taken for a hook. */
const prefix = 'hook:';

/** The name under which runs of a hook are recorded. */
export function toolNameOf(hookName: string): string {
  return `${prefix}${hookName}`;
}

/** The hook whose runs are recorded under a name. */
export function nameOfTool(tool: string): string {
  return tool.slice(prefix.length);
}

/** True for the name of a record of a hook. */
export function isHookTool(tool: string): boolean {
  return tool.startsWith(prefix);
}

const flags: ToolManifest['flags'] = {
  isResearch: false,
  isSideEffect: false,
  isDeep: false,
  isDangerous: false,
  isElevated: false,
  isParallelSafe: true,
};
/** Arguments of any call must fit beside what else an event tells. */
const limits: Partial<Limits> = { argumentBytes: limitTable.argumentBytes.max };

/**
 * Makes of a hook what the call journey runs: every run has a record, limits, logs and the border of a call of a tool. Only
 * who holds it can call it. `granted` is asked on every use, and must answer the same object as long as nothing changed.
 */
export function createHookEntry(hook: {
  readonly place: HookPlace;
  readonly files: Pick<HookFiles, 'contentHash'>;
  readonly manifest: HookManifest;
  readonly built: BuiltHook;
  readonly granted: () => PermissionSet;
  readonly nowMs: number;
}): ToolEntry {
  const { place, files, manifest, built } = hook;
  const name = toolNameOf(place.name);
  const tool: ToolManifest = {
    name,
    handler: 'default',
    description: manifest.description,
    input: { type: 'object' },
    inputSource: 'none',
    flags,
    tags: [],
    mode: 'on',
    retries: 0,
    idempotent: false,
    examples: [],
  };
  const plugin: PluginManifest = {
    name,
    version: '0.0.0',
    description: manifest.description,
    engine: built.engine,
    isolation: 'call',
    limits,
    permissions: manifest.permissions,
    permissionsSource: 'declared',
    tools: [tool],
    hooks: { onStart: false, onReload: false, healthcheck: false },
    warnings: [],
  };
  const generation = {
    id: `${name}@${files.contentHash}`,
    pluginPath: place.dir,
    number: 1,
    author: 'operator' as const,
    contentHash: files.contentHash,
    createdAtMs: hook.nowMs,
    manifest: plugin,
    inputs: [],
    program: built.program,
  };
  const published = { generation, manifest: plugin, granted: hook.granted, lease: () => () => {} };
  return { name, version: plugin.version, source: 'plugin', plugin: name, manifest: tool, published };
}
