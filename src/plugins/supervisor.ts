import { basename, join } from 'node:path';
import { createSlots } from '../concurrency/slots.ts';
import type { EscalationEngine } from '../engines/escalation.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { makeFolders } from '../file-system/paths.ts';
import { operatorId } from '../permissions/approvals/approval-answerer.ts';
import { describeGrantCommand } from '../permissions/permission-words.ts';
import { createToolsNews } from '../tools/tools-news.ts';
import type { ServedUnit } from '../units/unit.ts';
import type { UnitContent, UnitSource } from '../units/unit-registry.ts';
import type { ProposedTexts } from './compile/read-input.ts';
import { classifyName } from './discovery/entry-names.ts';
import { refuseLoading } from './discovery/load-policy.ts';
import { listRoots } from './discovery/plugin-roots.ts';
import type { PluginSource } from './discovery/plugin-source.ts';
import { createArchive } from './generations/archive.ts';
import { createArtifactFiles, type TraceFiles } from './generations/artifact-files.ts';
import type { Generation } from './generations/generation.ts';
import { createLeasable } from './generations/leases.ts';
import { mayServe } from './lifecycle.ts';
import { checkText, sourceOfNewFile } from './supervisor/build/check-text.ts';
import { createEscalatedBuilds } from './supervisor/build/escalated-builds.ts';
import { buildUnsaved } from './supervisor/build/unsaved-build.ts';
import { deleteSource, readEntryText, textFileOf, writeEntryText } from './supervisor/entry-text.ts';
import { findPlugin } from './supervisor/find-plugin.ts';
import { createKillCount } from './supervisor/kill-count.ts';
import { createLookQueue, describeReload, type LookQueue } from './supervisor/look-queue.ts';
import { createMending, type PluginMending } from './supervisor/mending.ts';
import { nameOfPlugin, type PluginRecord } from './supervisor/plugin-record.ts';
import { createPluginRowWriter } from './supervisor/plugin-rows.ts';
import { createPluginSet, startWatches, type Watches } from './supervisor/plugin-set.ts';
import { createPublisher } from './supervisor/publisher.ts';
import { createReconciler } from './supervisor/reconciler.ts';
import { restorePlugins } from './supervisor/restore.ts';
import { rollBack } from './supervisor/roll-back.ts';
import type { SupervisorParts } from './supervisor/supervisor-parts.ts';
import { describeStanding, findAsking, viewGeneration, viewPlugin } from './supervisor/views.ts';
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
const maxChecksAtOnce = 2;
const maxWaitingChecks = 16;
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
  const archive = createArchive({
    table: store.generations,
    files: createArtifactFiles(join(config.dataDir, 'generations')),
    madeBy: parts.madeBy,
    now,
    rebuildCode,
    onProblem: tellStorage,
  });
  const escalatedBuilds = createEscalatedBuilds({
    builder,
    engines: parts.engines,
    findSource: (path) => pluginSet.queues.get(path)?.record.source,
  });
  const publisher = createPublisher({
    ...parts,
    onDiscard: escalatedBuilds.forget,
    archive,
    rows,
    news,
    now,
    findRecord: (path) => pluginSet.queues.get(path)?.record,
    onNamesFree: pokeBlocked,
    onFault,
  });
  const written = createWrittenFiles(store.writtenFiles, operatorId);
  const slots = createSlots(maxBuildsAtOnce);
  const checks = createSlots(maxChecksAtOnce);
  const reconciler = createReconciler({
    publisher,
    archive,
    builder,
    users,
    slots,
    written,
    refuseLoading: (name) => refuseLoading(name, config),
    onFault,
  });
  const pluginSet = createPluginSet({
    roots,
    users,
    names,
    createQueue,
    onPassedOver: ({ path, reason }) => events.publish('watch-problem', { subject: path, data: { path, message: reason } }),
  });
  const mending = createMending({
    queues: pluginSet.queues,
    archive,
    publisher,
    reconciler,
    written,
    findNewFile: (name) => findNewFile(name)?.source,
    takeIn(path) {
      pluginSet.hint(path);
      return find(path);
    },
    settle() {
      rows.flush();
      return archive.flush();
    },
  });
  let watches: Watches | undefined;

  function createQueue(record: PluginRecord): LookQueue {
    return createLookQueue({
      record,
      reconciler,
      publisher,
      onFault,
      onGone: () => forget(record),
      onDecided: () => names.settle(record.path),
    });
  }

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

  function findGeneration(id: string): Generation | undefined {
    for (const { record } of pluginSet.queues.values()) if (record.live?.generation.id === id) return record.live.generation;
    return archive.find(id);
  }

  function findSame(build: UnitContent | undefined): Generation | undefined {
    const live = build && pluginSet.queues.get(build.unitPath)?.record.live?.generation;
    return live?.contentHash === build?.contentHash ? live : undefined;
  }

  async function rebuildCode(generation: Generation): Promise<string | Uint8Array | undefined> {
    const source = pluginSet.queues.get(generation.path)?.record.source;
    const built = source && (await builder.compileOnly(source, generation.manifest));
    return built?.contentHash === generation.contentHash ? built.artifacts.code : undefined;
  }

  const find = (name: string) => pluginSet.queues.get(name) ?? findPlugin([...pluginSet.queues.values()], name);
  /** The place of a file that is to be a plugin and is not there yet. */
  function findNewFile(name: string): { source: PluginSource; live: undefined } | undefined {
    const [root] = roots.filter(({ kind }) => kind === 'plugins');
    const isNew = classifyName(name) === 'code' && basename(name) === name;
    if (!isNew || root === undefined || pluginSet.queues.values().some(({ record }) => record.source.name === name))
      return undefined;
    return { source: sourceOfNewFile(root, name), live: undefined };
  }

  /** Texts that nobody saved take no place of those that somebody did. */
  function enterChecks(signal: AbortSignal): Promise<() => void> {
    if (checks.waiting() < maxWaitingChecks) return checks.enter(signal);
    const message = `${maxWaitingChecks} texts wait to be checked already.`;
    throw new HotcellError('queue-full', message, { fix: 'Check again when some of them are done.' });
  }

  async function inChecks<Result>(signal: AbortSignal, task: () => Promise<Result>): Promise<Result> {
    const leave = await enterChecks(signal);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  const proposeFiles = (source: PluginSource, proposed: ProposedTexts, signal: AbortSignal) =>
    inChecks(signal, () => buildUnsaved({ ...parts, isKept: mending.isKept }, { source, proposed, signal }));

  const standingOf = ({ source, live }: PluginRecord) => ({ source, live: live?.generation });
  const view = (record: PluginRecord) => viewPlugin(record, (asking) => decideGrants(asking));
  const sortedQueues = () => [...pluginSet.queues.values()].sort((a, b) => (a.record.path < b.record.path ? -1 : 1));

  async function reload(queue: LookQueue, reason: string) {
    kills.clear(queue.record.path);
    return queue.reload(reason);
  }

  /** Builds what waited for an engine as soon as it may have it. */
  async function grantEscalation(queue: LookQueue): Promise<void> {
    const { escalation } = queue.record;
    if (escalation === undefined || decideGrants(escalation).pending.engine !== undefined) return;
    await queue.reload('its engine was allowed', escalation.author);
  }

  async function quarantine(queue: LookQueue, reason: string): Promise<void> {
    await queue.run(() => publisher.apply(queue.record, { type: 'quarantined' }, { reason }));
  }

  return {
    async start() {
      for (const root of roots) createRoot(root.path);
      const stale = restorePlugins({ ...parts, roots, pluginSet, archive, publisher, reconciler });
      parts.onRestored?.();
      watches = startWatches({ config, roots, pluginSet, users, events });
      await Promise.all(stale.map((queue) => queue.check('found at start')));
    },
    list: () => sortedQueues().map((queue) => view(queue.record)),
    passedOver: () => pluginSet.passedOver(),
    get: (name) => view(find(name).record),
    pathOf: (name) => find(name).record.path,
    asking: (name) => findAsking(find(name).record),
    why: (name) => [...find(name).record.transitions],
    reload: (name) => reload(find(name), 'reload was asked for'),
    reloadAll: () =>
      Promise.all(
        sortedQueues().map((queue) =>
          // A rollback holds until somebody reloads that very plugin.
          queue.record.pinnedAwayFrom === undefined
            ? reload(queue, 'reload of all was asked for')
            : describeReload(queue.record, false, 0),
        ),
      ),
    async setEnabled(name, enabled) {
      const queue = find(name);
      const { record } = queue;
      const isToBuild = await queue.run(() => {
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
      });
      if (isToBuild) await queue.check('enabled');
      return view(record);
    },
    readSource: (name) => readEntryText(find(name).record.source),
    async writeSource(name, text, { by, expectedHash }) {
      const queue = find(name);
      const note = (path: string, sha256: string) => written.note(path, sha256, by);
      await queue.run(() => writeEntryText(queue.record.source, text, expectedHash, note));
      return reload(queue, 'the source was written');
    },
    async check(name, text, signal = new AbortController().signal) {
      const proposal = findNewFile(name) ?? standingOf(find(name).record);
      return inChecks(signal, () => checkText({ ...parts, isKept: mending.isKept }, { ...proposal, text, signal }));
    },
    async propose(name, text, signal) {
      const { source } = find(name).record;
      return proposeFiles(source, new Map([[textFileOf(source), text]]), signal);
    },
    proposeFiles,
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
    units: {
      find: (name) => describeStanding(find(name).record, decideGrants),
      list: () => sortedQueues().map((queue) => describeStanding(queue.record, decideGrants)),
      findServable(id, content) {
        const generation = findGeneration(id) ?? findSame(content);
        const record = generation && pluginSet.queues.get(generation.path)?.record;
        if (!generation || !record || !mayServe(record.lifecycle.state)) return undefined;
        if (record.live?.generation === generation) return record.live.leasable.served;
        const granted: ServedUnit['granted'] = (use) => decideGrants(generation, use).granted;
        return createLeasable({ generation, granted, onDrained: () => {} }).served;
      },
      isLoading: () => pluginSet.queues.values().some(({ record }) => record.lifecycle.state === 'loading'),
      async refreshGrants() {
        const telling = { reason: 'grants changed' };
        await Promise.all(sortedQueues().map((queue) => queue.run(() => publisher.regrant(queue.record, telling))));
        await Promise.all(sortedQueues().map(grantEscalation));
      },
    },
    noteKill(plugin, reason) {
      const queue = pluginSet.queues.get(plugin) ?? sortedQueues().find(({ record }) => nameOfPlugin(record) === plugin);
      if (!queue || !kills.note(queue.record.path, performance.now())) return;
      const { limit, windowMs } = tolerableKills;
      quarantine(queue, `its cells were killed ${limit} times within ${windowMs / 1000} s: ${reason}`).catch(onFault);
    },
    quarantine: (name, reason) => quarantine(find(name), reason),
    async buildForEngine({ id }, engine) {
      const generation = findGeneration(id);
      return generation && escalatedBuilds.build(generation, engine);
    },
    async wantEngine({ id }, engine, reason) {
      const generation = findGeneration(id);
      const queue = generation && pluginSet.queues.get(generation.path);
      if (generation === undefined || queue === undefined) return undefined;
      const { name, permissions, permissionsSource } = generation.manifest;
      const escalation = {
        ...generation,
        permissionsSource,
        manifest: { name, permissions: { ...permissions, engine: [engine] } },
        reason,
        atRun: true as const,
      };
      const asks = describeGrantCommand(name, decideGrants(escalation).pending);
      await queue.run(() => {
        const { record } = queue;
        if (record.escalation === undefined && record.live?.generation.id === generation.id)
          publisher.apply(record, { type: 'wanted', escalation }, { reason });
      });
      await grantEscalation(queue);
      return `Allow it with: ${asks}, or answer the question: hotcell approve. Then call it again.`;
    },
    readArtifacts: async (generationId) => escalatedBuilds.readTrace(generationId) ?? (await archive.readTrace(generationId)),
    async close() {
      await watches?.close();
      await Promise.all([...pluginSet.queues.values()].map((queue) => queue.close()));
      news.flush();
      rows.flush();
      await archive.flush();
    },
  };

  function createRoot(path: string): void {
    try {
      makeFolders(path);
    } catch (error) {
      const reason = error instanceof HotcellError || error instanceof Error ? error.message : String(error);
      events.publish('watch-problem', { subject: path, data: { path, message: `The folder cannot be created: ${reason}` } });
    }
  }
}
