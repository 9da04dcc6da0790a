import { defaultLimits } from '../../config/limits.ts';
import type { PermissionSet } from '../../config/permission-set.ts';
import { describePermissions, isNothing, subtractPermissions } from '../../permissions/decision.ts';
import type { PluginManifest } from '../../plugins/generations/generation.ts';
import { listOfferings, ownedNameOf } from '../../units/offering.ts';
import type { ToolFlags, ToolManifest } from '../../units/tool-manifest.ts';
import { findNarrowing } from './narrower-schema.ts';

/** What another manifest takes away, and what it would have beyond the former one; sentences for people. */
export interface ManifestChange {
  /** Why callers would miss something. */
  readonly lost: readonly string[];
  /** Where schemas refuse what they accepted. */
  readonly narrowed: readonly string[];
  /** What a person has to decide. */
  readonly widened: readonly string[];
  /** The permissions among that. */
  readonly more: PermissionSet;
}

const isolations = ['call', 'session', 'plugin'] as const;
/** Flags that keep something from happening unasked. */
const guardingFlags: readonly (keyof ToolFlags)[] = ['isDangerous', 'isElevated', 'isSideEffect', 'isDeep'];

/** Compares what a plugin says of itself with what it said before. */
export function compareManifests(before: PluginManifest, after: PluginManifest): ManifestChange {
  const more = subtractPermissions(after.permissions, before.permissions);
  const pairs = before.tools.map((tool) => ({ tool, now: after.tools.find(({ name }) => name === tool.name) }));
  return {
    lost: [
      ...(after.name === before.name ? [] : [`The plugin "${before.name}" is named "${after.name}".`]),
      ...pairs.flatMap(({ tool, now }) => (now === undefined ? [`The tool "${tool.name}" is gone.`] : [])),
      ...after.tools.flatMap(({ name }) =>
        before.tools.some((tool) => tool.name === name) ? [] : [`The tool "${name}" was not there before.`],
      ),
      ...findLostOfferings(before, after),
    ],
    narrowed: pairs.flatMap(({ tool, now }) => {
      const narrowing = now && findNarrowing(tool.input, now.input);
      return narrowing === undefined ? [] : [`${tool.name}: ${narrowing}.`];
    }),
    widened: [
      ...(isNothing(more) ? [] : [`It asks for ${describePermissions(more)}.`]),
      ...(after.engine === before.engine ? [] : [`It runs on the engine "${after.engine}" instead of "${before.engine}".`]),
      ...(isolations.indexOf(after.isolation) > isolations.indexOf(before.isolation)
        ? [`Its cells are kept for each ${after.isolation}, not for each ${before.isolation}.`]
        : []),
      ...findRaisedLimits(before, after),
      ...(['onStart', 'onReload'] as const)
        .filter((hook) => before.hooks[hook] !== after.hooks[hook])
        .map((hook) => `It ${after.hooks[hook] ? 'does something' : 'does nothing any more'} by itself, in ${hook}.`),
      ...pairs.flatMap(({ tool, now }) => (now === undefined ? [] : findLooserTool(tool, now))),
    ],
    more,
  };
}

function findLostOfferings(before: PluginManifest, after: PluginManifest): string[] {
  const names = new Set(listOfferings(after).map(ownedNameOf));
  const lost = listOfferings(before).filter((offering) => !names.has(ownedNameOf(offering)));
  return lost.map((offering) => `The ${offering.kind} "${offering.name}" is gone.`);
}

function findRaisedLimits(before: PluginManifest, after: PluginManifest): string[] {
  const usual = new Map<string, number>(Object.entries(defaultLimits));
  const former = new Map<string, number>(Object.entries(before.limits));
  return Object.entries(after.limits).flatMap(([name, now]) => {
    const was = former.get(name) ?? usual.get(name) ?? 0;
    return now > Math.max(was, usual.get(name) ?? 0) ? [`Its limit ${name} is ${now} instead of ${was}.`] : [];
  });
}

function findLooserTool(before: ToolManifest, after: ToolManifest): string[] {
  const { name } = before;
  const dropped = guardingFlags.filter((flag) => before.flags[flag] && !after.flags[flag]);
  return [
    ...dropped.map((flag) => `The tool "${name}" is not marked ${flag} any more.`),
    ...(before.mode !== after.mode ? [`The mode of "${name}" is ${after.mode} instead of ${before.mode}.`] : []),
    ...(after.flags.isParallelSafe && !before.flags.isParallelSafe
      ? [`"${name}" is marked isParallelSafe, so it may run beside others.`]
      : []),
    ...((after.timeoutMs ?? 0) > Math.max(before.timeoutMs ?? 0, defaultLimits.wallMs)
      ? [`"${name}" may take ${after.timeoutMs} ms.`]
      : []),
    ...(before.who !== undefined && before.who !== after.who ? [`"${name}" is for others than before.`] : []),
    ...(after.retries > before.retries ? [`"${name}" is tried again ${after.retries} times instead of ${before.retries}.`] : []),
    ...(after.idempotent && !before.idempotent ? [`"${name}" is marked idempotent, so it may run twice.`] : []),
  ];
}
