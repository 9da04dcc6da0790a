import { join } from 'node:path';
import { createSlots } from '../concurrency/slots.ts';
import type { EscalationEngine } from '../engines/escalation.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { makeFolders } from '../file-system/paths.ts';
import { operatorId } from '../permissions/approvals/approval-answerer.ts';
import { createToolsNews } from '../tools/tools-news.ts';
import type { UnitSource } from '../units/unit-registry.ts';
import { refuseLoading } from './discovery/load-policy.ts';
import { listRoots } from './discovery/plugin-roots.ts';
import { createArchive } from './generations/archive.ts';
import { createArtifactFiles, type TraceFiles } from './generations/artifact-files.ts';
import type { Generation } from './generations/generation.ts';
import { createTextChecks } from './supervisor/build/check-text.ts';
import { createEscalatedBuilds } from './supervisor/build/escalated-builds.ts';
import { deleteSource, readEntryText, textFileOf, writeEntryText } from './supervisor/entry-text.ts';
import { createKillCount } from './supervisor/kill-count.ts';
import { createLookQueue, describeReload, type LookQueue } from './supervisor/look-queue.ts';
import { createMending, type PluginMending } from './supervisor/mending.ts';
import { nameOfPlugin, type PluginRecord } from './supervisor/plugin-record.ts';
import { createPluginRowWriter } from './supervisor/plugin-rows.ts';
import { createPluginSet, startWatches, type Watches } from './supervisor/plugin-set.ts';
import { createPluginUnits } from './supervisor/plugin-units.ts';
import { createPublisher } from './supervisor/publisher.ts';
import { createReconciler } from './supervisor/reconciler.ts';
import { restorePlugins } from './supervisor/restore.ts';
import { rollBack } from './supervisor/roll-back.ts';
import type { SupervisorParts, SupervisorRoom } from './supervisor/supervisor-parts.ts';
import { findAsking, viewGeneration, viewPlugin } from './supervisor/views.ts';
import { createWrittenFiles } from './supervisor/written-files.ts';
import type { PluginSupervisor } from './supervisor-types.ts';
import { createInputUsers } from './watch/input-users.ts';

/** The supervisor with what the other parts of the daemon need of it. */
export interface PluginSupervisorControls extends PluginSupervisor {
  /** Counts a cell of a plugin, by name or path, that had to be killed; too many of them quarantine the plugin. */
  noteKill(plugin: string, reason: string): void;
  /** Takes a plugin out of service until its content changes, or somebody reloads or enables it. */
  quarantine(name: string, reason: string): Promise<void>;
  /** What repairs may do. */
  readonly mending: PluginMending;
  /** The plugins as units. */
  readonly units: UnitSource;
  /** The content of a generation for a higher engine; undefined when it cannot be had. */
  buildForEngine(generation: { readonly id: string }, engine: EscalationEngine): Promise<Generation | undefined>;
  /** Asks a person to let a plugin have the engine that a call of it needed; says how to let it. */
  wantEngine(generation: { readonly id: string }, engine: EscalationEngine, reason: string): Promise<string | undefined>;
  /** Source map and sources of a generation, for diagnostics; undefined when it is no longer kept. */
  readArtifacts(generationId: string): Promise<TraceFiles | undefined>;
}

const maxBuildsAtOnce = 8;
const tolerableKills = { limit: 5, windowMs: 60_000 };

/** Creates the supervisor. Nothing happens before `start`. */
export function createSupervisor(parts: SupervisorParts): PluginSupervisorControls {
  const { config, store, events, builder, names, decideGrants } = parts;
  const now = parts.now ?? Date.now;
  const onFault = parts.onFault ?? (() => undefined);
  const roots = listRoots(config);
  const users = createInputUsers();
  const news = createToolsNews(events);
  const kills = createKillCount(tolerableKills);
  const tellStorage = (message: string) =>
    events.publish('storage-problem', { subject: 'storage', data: { path: config.dataDir, message } });
  const rows = createPluginRowWriter(store.plugins, tellStorage);
  const findSource = (path: string) => pluginSet.queues.get(path)?.record.source;
  const archive = createArchive({
    table: store.generations,
    files: createArtifactFiles(join(config.dataDir, 'generations')),
    madeBy: parts.madeBy,
    now,
    rebuildCode,
    onProblem: tellStorage,
  });
  const written = createWrittenFiles(store.writtenFiles, operatorId);
  const room: SupervisorRoom = { ...parts, roots, users, archive, rows, written, now, onFault };
  const escalatedBuilds = createEscalatedBuilds({ builder, engines: parts.engines, findSource });
  const publisher = createPublisher({
    ...room,
    news,
    onDiscard: escalatedBuilds.forget,
    findRecord: (path) => pluginSet.queues.get(path)?.record,
    onNamesFree: pokeBlocked,
  });
  const reconciler = createReconciler({ ...room, publisher, slots: createSlots(maxBuildsAtOnce) });
  const pluginSet = createPluginSet({
    ...room,
    createQueue: (record) =>
      createLookQueue({
        record,
        reconciler,
        publisher,
        onFault,
        onGone: () => forget(record),
        onDecided: () => names.settle(record.path),
      }),
    onPassedOver: ({ path, reason }) => events.publish('watch-problem', { subject: path, data: { path, message: reason } }),
  });
  const { queues, find, inOrder } = pluginSet;
  const texts = createTextChecks({ ...room, queues, isKept: archive.holdsProgram });
  const { units, findGeneration, wantEngine } = createPluginUnits({ ...room, pluginSet, publisher });
  const mending = createMending({
    ...room,
    queues,
    publisher,
    reconciler,
    newSource: texts.findNewFile,
    takeIn(path) {
      pluginSet.hint(path);
      return find(path);
    },
  });
  let watches: Watches | undefined;

  function forget(record: PluginRecord): void {
    pluginSet.drop(record.path);
    kills.clear(record.path);
    archive.forget(record.path);
    parts.onForgotten?.(record.path);
    rows.forget(record);
    const data = { path: record.shownPath, reason: 'the file was removed' };
    events.publish('plugin-removed', { subject: nameOfPlugin(record), data });
    pokeBlocked();
  }

  function pokeBlocked(): void {
    for (const queue of pluginSet.queues.values()) if (queue.record.waiting?.because === 'duplicate') queue.poke();
  }

  async function rebuildCode(generation: Generation): Promise<string | Uint8Array | undefined> {
    const source = findSource(generation.path);
    const built = source && (await builder.compileOnly(source, generation.manifest));
    return built?.contentHash === generation.contentHash ? built.artifacts.code : undefined;
  }

  const view = (record: PluginRecord) => viewPlugin(record, (asking) => decideGrants(asking));

  async function reload(queue: LookQueue, reason: string) {
    kills.clear(queue.record.path);
    return queue.reload(reason);
  }

  async function quarantine(queue: LookQueue, reason: string): Promise<void> {
    await queue.run(() => publisher.apply(queue.record, { type: 'quarantined' }, { reason }));
  }

  /** Whether it is to be built now. */
  function switchPlugin(record: PluginRecord, enabled: boolean): boolean {
    if (enabled) kills.clear(record.path);
    else users.delete(record.path);
    const refusal = enabled ? refuseLoading(record.source.name, config) : undefined;
    const reason = refusal ?? (enabled ? 'enabled' : 'disabled');
    const effects = publisher.apply(record, { type: 'switched', enabled, isWithheld: refusal !== undefined }, { reason });
    if (!effects.includes('build')) return false;
    // What served last serves at once; whether the folder holds something newer is looked at next.
    publisher.note(record, { type: 'seen', seen: undefined });
    if (record.chosen) publisher.offer(record, record.chosen, { reason: 'enabled' });
    return true;
  }

  return {
    async start() {
      for (const { path } of roots) createRoot(path, events);
      const stale = restorePlugins({ ...room, pluginSet, publisher, reconciler });
      parts.onRestored?.();
      watches = startWatches({ ...room, pluginSet });
      await Promise.all(stale.map((queue) => queue.check('found at start')));
    },
    list: () => inOrder().map((queue) => view(queue.record)),
    passedOver: pluginSet.passedOver,
    get: (name) => view(find(name).record),
    pathOf: (name) => find(name).record.path,
    asking: (name) => findAsking(find(name).record),
    why: (name) => [...find(name).record.transitions],
    reload: (name) => reload(find(name), 'reload was asked for'),
    reloadAll: () =>
      Promise.all(
        inOrder().map((queue) =>
          // A rollback holds until somebody reloads that very plugin.
          queue.record.pinnedAwayFrom === undefined
            ? reload(queue, 'reload of all was asked for')
            : describeReload(queue.record, false, 0),
        ),
      ),
    async setEnabled(name, enabled) {
      const queue = find(name);
      const isToBuild = await queue.run(() => switchPlugin(queue.record, enabled));
      if (isToBuild) await queue.check('enabled');
      return view(queue.record);
    },
    readSource: (name) => readEntryText(find(name).record.source),
    async writeSource(name, text, { by, expectedHash }) {
      const queue = find(name);
      const note = (path: string, sha256: string) => written.note(path, sha256, by);
      await queue.run(() => writeEntryText(queue.record.source, text, expectedHash, note));
      return reload(queue, 'the source was written');
    },
    async check(name, text, signal = new AbortController().signal) {
      const newSource = texts.findNewFile(name);
      if (newSource !== undefined) return texts.check(newSource, undefined, text, signal);
      const { source, live } = find(name).record;
      return texts.check(source, live?.generation, text, signal);
    },
    async propose(name, text, signal) {
      const { source } = find(name).record;
      return texts.build(source, new Map([[textFileOf(source), text]]), signal);
    },
    proposeFiles: texts.build,
    async remove(name) {
      const queue = find(name);
      await queue.run(() => deleteSource(queue.record.source));
      await queue.check('removed');
    },
    generations(name) {
      const { record } = find(name);
      return archive.listKept(record.path).map((generation) => viewGeneration(generation, record.live?.generation));
    },
    async rollback(name, number) {
      const queue = find(name);
      return queue.run(() => {
        rollBack({ archive, publisher }, queue.record, number);
        return describeReload(queue.record, true, 0);
      });
    },
    findGeneration,
    mending,
    units,
    noteKill(plugin, reason) {
      const queue = queues.get(plugin) ?? inOrder().find(({ record }) => nameOfPlugin(record) === plugin);
      if (!queue || !kills.note(queue.record.path, performance.now())) return;
      const { limit, windowMs } = tolerableKills;
      quarantine(queue, `its cells were killed ${limit} times within ${windowMs / 1000} s: ${reason}`).catch(onFault);
    },
    quarantine: (name, reason) => quarantine(find(name), reason),
    async buildForEngine({ id }, engine) {
      const generation = findGeneration(id);
      return generation && escalatedBuilds.build(generation, engine);
    },
    wantEngine,
    readArtifacts: async (generationId) => escalatedBuilds.readTrace(generationId) ?? (await archive.readTrace(generationId)),
    async close() {
      await watches?.close();
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      news.flush();
      rows.flush();
      await archive.flush();
    },
  };
}

function createRoot(path: string, events: SupervisorParts['events']): void {
  try {
    makeFolders(path);
  } catch (error) {
    const reason = error instanceof HotcellError || error instanceof Error ? error.message : String(error);
    events.publish('watch-problem', { subject: path, data: { path, message: `The folder cannot be created: ${reason}` } });
  }
}
