import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { CliFlags } from '../config/read/sources.ts';
import { HotcellError } from '../errors/hotcell-error.ts';
import { suggestNearNames } from '../errors/near-names.ts';
import { daemonContracts } from '../operations/contracts/daemon.ts';
import { pluginContracts } from '../operations/contracts/plugins.ts';
import { nameFromFile } from '../plugins/discovery/entry-names.ts';
import { displayPath } from '../plugins/discovery/plugin-roots.ts';
import { type PluginSource, scanRoot } from '../plugins/discovery/plugin-source.ts';
import { withDaemon } from './commands/command.ts';
import type { CliSession } from './session.ts';

/** The folders of the daemon that runs on this data directory, wherever it was started; else those of the config here. */
export async function findPluginDirs(session: CliSession, flags: CliFlags): Promise<readonly string[]> {
  const { HOTCELL_URL: address = '' } = session.io.env;
  // The folders of a daemon on another machine are not here.
  if (address !== '') return (await session.readConfig(flags)).pluginDirs;
  try {
    const { config } = await withDaemon(session, flags, (client) => client.invoke(daemonContracts.config, {}));
    const { pluginDirs } = config;
    return Array.isArray(pluginDirs) ? pluginDirs.filter((folder) => typeof folder === 'string') : [];
  } catch (error) {
    if (!(error instanceof HotcellError) || error.code !== 'daemon-unreachable') throw error;
    return (await session.readConfig(flags)).pluginDirs;
  }
}

/** The file or folder that somebody means by a path or by the name of a plugin. Throws `plugin-unknown` with near names. */
export async function findPluginPath(session: CliSession, flags: CliFlags, said: string): Promise<string> {
  const path = resolve(session.io.cwd, said);
  if (said.includes('/') || existsSync(path)) return path;
  const dirs = await findPluginDirs(session, flags);
  const sources = dirs.flatMap((dir) => scanRoot({ path: dir, kind: 'plugins', label: basename(dir) }) ?? []);
  const names = await listNames(session, flags, sources);
  const found = names.find(({ name }) => name === said);
  if (found !== undefined) return found.source.path;
  const near = suggestNearNames(
    said,
    names.map(({ name }) => name),
  );
  throw new HotcellError(
    'plugin-unknown',
    `There is no file ${said} here, and no plugin of that name in ${dirs.join(', ')}.${near}`,
    {
      fix: 'Name a plugin as hotcell plugin list shows it, a .ts or .js file, or a folder with an index.ts.',
    },
  );
}

/** What the plugins are called: by a daemon that runs, by the names of their files, and as files. */
async function listNames(session: CliSession, flags: CliFlags, sources: readonly PluginSource[]) {
  const byFile = sources.flatMap((source) => [nameFromFile(source.name), source.name].map((name) => ({ name, source })));
  try {
    const { items } = await withDaemon(session, flags, (client) => client.invoke(pluginContracts.list, {}));
    const called = items.flatMap(({ name, path }) => {
      const source = sources.find((each) => path === each.path || path === displayPath(each.root, each.path));
      return source === undefined ? [] : [{ name, source }];
    });
    return [...called, ...byFile];
  } catch (error) {
    if (!(error instanceof HotcellError) || error.code !== 'daemon-unreachable') throw error;
    return byFile;
  }
}
