import { existsSync } from 'node:fs';
import type { PluginRoot } from '../discovery/plugin-roots.ts';
import { createFolderWatch } from '../watch/folder-watch.ts';
import type { InputUsers } from '../watch/input-users.ts';
import { startRootWatch } from '../watch/root-watch.ts';
import { startSlowRound } from '../watch/slow-round.ts';
import type { Fleet } from './fleet.ts';
import type { SupervisorParts } from './parts.ts';

/** Everything that gives hints to the fleet. */
export interface Watches {
  close(): Promise<void>;
}

const rootCheckMs = 500;
const roundStepMs = 200;

/** Starts watching. What changed before the watch was ready is found by looking at everything once more then. */
export function startWatches(
  parts: Pick<SupervisorParts, 'config' | 'events'> & {
    readonly roots: readonly PluginRoot[];
    readonly fleet: Fleet;
    readonly users: InputUsers;
  },
): Watches {
  const { config, events, roots, fleet, users } = parts;
  const rootPaths = roots.map((root) => root.path);
  const tellProblem = (path: string, message: string) =>
    events.publish('watch-problem', { subject: path, data: { path, message } });
  const rescan = (path: string) => {
    for (const root of roots) if (root.path === path) fleet.rescan(root);
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
      fleet.hint(path);
    },
    onProblem: tellProblem,
    onReady: () => roots.forEach(fleet.rescan),
  });
  const round = startSlowRound({ intervalMs: roundStepMs, inputs: users, onChange: fleet.hint });

  return {
    async close() {
      round.close();
      rootWatch.close();
      await folderWatch.close();
    },
  };
}
