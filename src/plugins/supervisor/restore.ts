import type { PluginRow } from '../../store/tables/plugins/plugins.ts';
import { refuseLoading } from '../discovery/load-policy.ts';
import { locate, type PluginRoot } from '../discovery/plugin-roots.ts';
import { type PluginSource, scanRoot } from '../discovery/plugin-source.ts';
import type { Generation } from '../generations/generation.ts';
import { compareSeen, readBuildInput, readSignature } from '../watch/seen.ts';
import { sweepParts } from './entry-text.ts';
import type { LookQueue } from './look-queue.ts';
import type { PluginRecord } from './plugin-record.ts';
import { readTransitions } from './plugin-rows.ts';
import type { PluginSet } from './plugin-set.ts';
import type { Publisher } from './publisher.ts';
import type { Reconciler } from './reconciler.ts';
import { describeWriting, parsePin } from './rollback-pin.ts';
import type { SupervisorRoom } from './supervisor-parts.ts';

/** What the restoration works with. */
interface RestoreParts extends SupervisorRoom {
  readonly pluginSet: PluginSet;
  readonly publisher: Publisher;
  readonly reconciler: Reconciler;
}

/**
 * Takes in all plugins of the folders. What the last run left and the disk still holds serves at once, without a build
 * and without reading code or image; the queues of all others are returned.
 */
export function restorePlugins(parts: RestoreParts): LookQueue[] {
  const { store, archive, pluginSet } = parts;
  const rows = new Map(store.plugins.list().map((row) => [row.path, row]));
  const generations = archive.restoreCurrent();
  const stale: LookQueue[] = [];
  const restored: string[] = [];
  const readRoots = new Set<PluginRoot>();
  for (const root of parts.roots) {
    sweepParts(root.path);
    const sources = scanRoot(root);
    if (!sources) continue;
    readRoots.add(root);
    for (const source of sources) {
      const queue = pluginSet.add(source);
      if (!restoreOne(parts, queue.record, rows.get(source.path), generations.get(source.path))) stale.push(queue);
      else restored.push(source.path);
      rows.delete(source.path);
    }
  }
  for (const path of restored) parts.names.settle(path);
  for (const path of rows.keys()) forgetLost(parts, readRoots, path);
  return stale;
}

/** True when the plugin has its state again. */
function restoreOne(
  parts: RestoreParts,
  record: PluginRecord,
  row: PluginRow | undefined,
  generation: Generation | undefined,
): boolean {
  const { publisher } = parts;
  publisher.note(record, {
    type: 'restored',
    enabled: row?.enabled ?? true,
    chosen: generation,
    transitions: row ? readTransitions(row) : [],
    pinnedAwayFrom: row?.pinnedAwayFrom == null ? undefined : parsePin(row.pinnedAwayFrom),
  });
  const refusal = refuseLoading(record.source.name, parts.config);
  if (refusal !== undefined || !record.enabled) {
    const reason = refusal ?? 'it was disabled before';
    publisher.apply(record, { type: 'withheld' }, { reason, isQuiet: refusal === undefined });
    return true;
  }
  if (!row || !generation) return false;
  const telling = { reason: 'restored', isQuiet: row.state === 'ready' || row.state === 'pending-grant' };
  publisher.apply(record, { type: 'found' }, { ...telling, isQuiet: true });
  if (row.state === 'quarantined') publisher.apply(record, { type: 'quarantined' }, { ...telling, isQuiet: true });
  else publisher.offer(record, generation, telling);
  return isUpToDate(parts, record, generation);
}

function isUpToDate(parts: RestoreParts, record: PluginRecord, generation: Generation): boolean {
  const { archive, reconciler } = parts;
  const pinned = record.pinnedAwayFrom;
  // After a rollback the folder holds what was turned away from; it stays so until somebody saves again.
  const onDisk =
    pinned === undefined
      ? generation
      : (standInFor(generation) ?? archive.listKept(record.path).find((kept) => kept.contentHash === pinned.contentHash));
  if (!onDisk || onDisk.isStale || !isBuiltFrom(record.source, onDisk)) return false;
  const { realEntry } = record.source;
  const seen = { realEntry, entrySignature: readSignature(realEntry), inputs: onDisk.inputs, missing: [] };
  const comparison = compareSeen(seen, record.source, { deep: false });
  if (comparison.kind === 'changed') return false;
  if (pinned && describeWriting(onDisk.inputs) !== pinned.writing) return false;
  reconciler.remember(record, comparison.kind === 'touched' ? { ...seen, inputs: comparison.inputs } : seen);
  if (comparison.kind === 'touched') archive.refreshInputs(onDisk, comparison.inputs);
  return true;
}

/** What a repair published was never in the folder: its pin tells of the files as they lie there. */
function standInFor(generation: Generation): Generation | undefined {
  if (generation.author !== 'repair' && generation.author !== 'model') return undefined;
  return { ...generation, inputs: generation.inputs.map((input) => readBuildInput(input.path) ?? input) };
}

function isBuiltFrom(source: PluginSource, generation: Generation): boolean {
  return generation.inputs.some((input) => input.path === source.realEntry);
}

/** Forgets a plugin that was deleted while the daemon was down; one of a folder that is not configured now is kept. */
function forgetLost(parts: RestoreParts, readRoots: ReadonlySet<PluginRoot>, path: string): void {
  const place = locate(parts.roots, path);
  if (!place || !readRoots.has(place.root)) return;
  parts.archive.forget(path);
  parts.store.plugins.delete(path);
  parts.onForgotten?.(path);
}
