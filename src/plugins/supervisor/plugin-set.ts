import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nameFromFile } from '../discovery/entry-names.ts';
import { explainPassedOver, listPassedOver, type PassedOver } from '../discovery/passed-over.ts';
import { displayPath, locate, type PluginRoot } from '../discovery/plugin-roots.ts';
import { findSource, type PluginSource, pluginNamesFor, scanRoot } from '../discovery/plugin-source.ts';
import { startRootWatch, startSlowRound } from '../watch/folder-rescan.ts';
import { createFolderWatch } from '../watch/folder-watch.ts';
import { findPlugin } from './find-plugin.ts';
import type { LookQueue } from './look-queue.ts';
import { createPluginRecord, type PluginRecord } from './plugin-record.ts';
import type { SupervisorRoom } from './supervisor-parts.ts';

const rootCheckMs = 500;
const roundStepMs = 200;

/** All plugins by path. */
export type PluginSet = ReturnType<typeof createPluginSet>;

/** Creates an empty set: it takes in what appears, and passes hints on to those whom they concern. */
export function createPluginSet(
  parts: Pick<SupervisorRoom, 'roots' | 'users' | 'names'> & {
    readonly createQueue: (record: PluginRecord) => LookQueue;
    /** Told of what was dropped and is no plugin, once for each reason. Must not throw. */
    readonly onPassedOver: (found: PassedOver) => void;
  },
) {
  const { roots, users, names } = parts;
  const queueByPath = new Map<string, LookQueue>();
  const queues: ReadonlyMap<string, LookQueue> = queueByPath;
  /** The reason by path. */
  const told = new Map<string, string>();

  /** Takes a plugin in without looking into it; the queue that is there already when there is one. */
  function add(source: PluginSource): LookQueue {
    const known = queues.get(source.path);
    if (known) return known;
    const queue = parts.createQueue(createPluginRecord(source, names));
    queueByPath.set(source.path, queue);
    names.arrive(source.path, fileNamesOf(source));
    return queue;
  }

  function pokeAt(root: PluginRoot, name: string): void {
    const known = queues.get(join(root.path, name));
    const source = known ? undefined : findSource(root, name);
    if (source) add(source).poke();
    known?.poke();
    if (known === undefined && source === undefined) tellPassedOver(root, name);
  }

  function tellPassedOver(root: PluginRoot, name: string): void {
    const found = explainPassedOver(root, name);
    const path = join(root.path, name);
    if (found === undefined) told.delete(path);
    else if (told.get(path) !== found.reason) {
      told.set(path, found.reason);
      parts.onPassedOver(found);
    }
  }

  return {
    queues,
    add,
    /** By path, name, `name@version` or the name of its file. Throws `plugin-unknown`, `name-ambiguous`. */
    find: (name: string): LookQueue => queues.get(name) ?? findPlugin([...queues.values()], name),
    /** All of them in the order of their paths. */
    inOrder: () => [...queues.values()].sort((a, b) => (a.record.path < b.record.path ? -1 : 1)),
    drop(pluginPath: string): void {
      queueByPath.delete(pluginPath);
      users.delete(pluginPath);
    },
    /** Something at this path may have changed. */
    hint(path: string): void {
      for (const user of users.usersOf(path)) queues.get(user)?.poke();
      const place = locate(roots, path);
      if (place) for (const name of pluginNamesFor(place.name)) pokeAt(place.root, name);
    },
    /** What looks like a plugin and is none. */
    passedOver: () => roots.flatMap(listPassedOver),
    /** Looks at everything in a root, for what the watch did not see. */
    rescan(root: PluginRoot): void {
      const sources = scanRoot(root);
      if (!sources) return;
      for (const source of sources) {
        const known = queues.get(source.path);
        if (known) known.glance();
        else add(source).poke();
      }
      const found = new Set(sources.map((source) => source.path));
      for (const queue of queues.values()) {
        if (queue.record.source.root === root && !found.has(queue.record.path)) queue.poke();
      }
    },
  };
}

/** `plugins/weather.ts`, `weather.ts`, `weather`. */
function fileNamesOf({ root, path, name }: PluginSource): string[] {
  return [...new Set([displayPath(root, path), name, nameFromFile(name)])];
}

/** Everything that gives hints to the set. */
export type Watches = ReturnType<typeof startWatches>;

/** Starts watching. What changed before the watch was ready is found by looking at everything once more then. */
export function startWatches(
  parts: Pick<SupervisorRoom, 'config' | 'events' | 'roots' | 'users'> & { readonly pluginSet: PluginSet },
) {
  const { config, events, roots, pluginSet, users } = parts;
  const rootPaths = roots.map((root) => root.path);
  const tellProblem = (path: string, message: string) =>
    events.publish('watch-problem', { subject: path, data: { path, message } });
  const rescan = (path: string) => {
    for (const root of roots) if (root.path === path) pluginSet.rescan(root);
  };

  const rootWatch = startRootWatch({
    roots: rootPaths,
    intervalMs: rootCheckMs,
    onGone: (path) =>
      tellProblem(path, 'The plugin folder is gone. Its plugins keep serving; it is picked up again when it is back.'),
    onBack(path) {
      tellProblem(path, 'The plugin folder is there again.');
      folderWatch.add(path);
      rescan(path);
    },
  });
  const folderWatch = createFolderWatch({
    folders: [...rootPaths, ...config.sharedDirs.filter((folder) => existsSync(folder))],
    polling: config.watch.polling,
    onHint(path) {
      if (rootPaths.includes(path)) rootWatch.check();
      pluginSet.hint(path);
    },
    onProblem: tellProblem,
    onReady: () => roots.forEach(pluginSet.rescan),
  });
  const round = startSlowRound({ intervalMs: roundStepMs, inputs: users, onChange: pluginSet.hint });

  return {
    async close(): Promise<void> {
      round.close();
      rootWatch.close();
      await folderWatch.close();
    },
  };
}
