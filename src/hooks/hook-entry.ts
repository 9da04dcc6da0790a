import { type Limits, limitTable } from '../config/limits.ts';
import type { PermissionSet } from '../config/permission-set.ts';
import { makeToolEntry, type ToolEntry } from '../tools/tool-types.ts';
import { setFlags, type ToolManifest } from '../units/tool-manifest.ts';
import type { Unit } from '../units/unit.ts';
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

const flags = setFlags((flag) => flag === 'isParallelSafe');
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
  const described = {
    name,
    version: '0.0.0',
    description: manifest.description,
    isolation: 'call',
    limits,
    permissions: manifest.permissions,
    tools: [tool],
  } as const;
  const unit: Unit = {
    kind: 'hook',
    path: place.dir,
    id: idOfHook(place, files),
    contentHash: files.contentHash,
    author: 'operator',
    manifest: described,
    runner: built.runner,
  };
  return makeToolEntry(tool, { unit, granted: hook.granted, lease: () => () => {} });
}

/** The id of what a hook is with these files. */
export function idOfHook({ name }: Pick<HookPlace, 'name'>, { contentHash }: Pick<HookFiles, 'contentHash'>): string {
  return `${toolNameOf(name)}@${contentHash}`;
}
