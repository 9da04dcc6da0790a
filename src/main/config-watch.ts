import { basename, dirname, extname, join } from 'node:path';
import { watch } from 'chokidar';
import type { Config } from '../config/config-types.ts';
import { searchedNames } from '../config/config-types.ts';
import { type ConfigEdit, type ConfigState, openLiveConfig } from '../config/live.ts';
import { readConfigText } from '../config/read/read-file.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import type { EventLog } from '../events/event.ts';

/** The config of a running daemon, and where the file stands to it. */
export interface OpenConfig {
  readonly config: Config;
  readonly state: () => ConfigState;
  /** Watches the file from now on: `reread` reads it with the same flags and environment as at the start. */
  start(parts: ConfigWatchParts): { close(): Promise<void> };
}

interface ConfigWatchParts {
  readonly reread: () => Promise<Config>;
  readonly events: Pick<EventLog, 'publish'>;
  /** Has those look again who decided by what changed. */
  readonly onApplied: (keys: ConfigEdit['applied']) => Promise<void>;
  readonly onFault: (error: unknown) => void;
}

/** A file written in place is read once it has rested. */
const restMs = 100;
const nothing: ConfigEdit = { applied: [], restart: [] };

/** Takes the config that the daemon starts with; in `cwd` a file is found that nobody named. */
export function openConfig(initial: Config, cwd: string): OpenConfig {
  const live = openLiveConfig(initial);
  let state: ConfigState = { restart: [] };
  const { configFile } = initial;
  const searched = searchedNames.map((name) => join(cwd, name));
  const isFound = configFile === undefined || searched.includes(configFile);
  const files = isFound ? searched : [configFile];
  const folder = dirname(files[0] ?? cwd);
  // From here on an edit is noticed, also one during the start.
  let seen = files.map(readText).join('\0');
  return {
    config: live.config,
    state: () => state,
    start({ reread, events, onApplied, onFault }) {
      let turn = Promise.resolve();
      const watcher = watch(folder, {
        ignoreInitial: true,
        depth: 0,
        ignored: (path) => path !== folder && !files.includes(path),
        usePolling: initial.watch.polling,
        awaitWriteFinish: { stabilityThreshold: restMs, pollInterval: restMs / 2 },
      });

      async function look(): Promise<void> {
        const text = files.map(readText).join('\0');
        if (text === seen) return;
        seen = text;
        const path = files.find((file) => readText(file) !== '') ?? configFile ?? '';
        try {
          // Code that ran once is kept by Node: an edit of it counts at the next start.
          const isCode = !['.yaml', '.yml', '.json'].includes(extname(path));
          const { applied, restart } = isCode ? { ...nothing, restart: [basename(path)] } : live.apply(await reread());
          state = { file: path, restart };
          await onApplied(applied);
          events.publish('config-change', { subject: 'daemon', data: { path, applied, restart } });
        } catch (error) {
          if (!(error instanceof HotcellError)) throw error;
          // What was to be done for a restart before is not known any more, and need not be: the file is mended first.
          state = { file: path, restart: [], problem: error.message };
          events.publish('config-change', { subject: 'daemon', data: { path, ...nothing, problem: error.message } });
        }
      }

      const lookNext = (): void => {
        turn = turn.then(look).catch(onFault);
      };
      watcher.on('all', lookNext);
      watcher.on('ready', lookNext);
      watcher.on('error', onFault);
      return {
        async close() {
          await watcher.close();
          await turn;
        },
      };
    },
  };
}

function readText(file: string): string {
  try {
    return readConfigText(file);
  } catch {
    return '';
  }
}
