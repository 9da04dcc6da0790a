import { accessSync, constants, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { chromiumFix, findChromium } from '../../builtins/browser/find-chromium.ts';
import { findSearchProblem } from '../../config/settings/search-settings.ts';
import { errorCatalog } from '../../errors/catalog.ts';
import { createModelCatalog, type ProviderState } from '../../models/catalog.ts';
import { readModelKey } from '../../models/model-key.ts';
import { examineDataDir } from '../../store/examine.ts';
import { isBusyError } from '../../store/sqlite-error.ts';
import { type Check, type DoctorFacts, type Examination, fail, ok, warn } from './check.ts';

/** Can the data directory be written, and only by its owner? */
export const checkDataDir: Check = ({ config: { dataDir } }) => {
  const mode = readMode(dataDir);
  const folder = mode === undefined ? nearestFolder(dataDir) : dataDir;
  if (!isWritable(folder)) {
    return fail(
      `${folder} cannot be written by this user.`,
      'Give this user the right to write it, or choose another: --data DIR.',
    );
  }
  if (mode === undefined) return ok(`${dataDir} will be made at the first start.`);
  return (mode & 0o077) === 0
    ? ok(`${dataDir} is writable and private.`)
    : warn(`${dataDir} is open to other users.`, `Close it: chmod 700 ${dataDir}`);
};

/** Is what the config file says in force? */
export const checkConfig: Check = ({ config, configState }) => {
  const { problem, restart = [], file = config.configFile } = configState ?? {};
  if (problem !== undefined) return warn(`${problem} The values from before stay in force.`, `Mend ${file}.`);
  if (restart.length > 0) {
    const waiting = `${restart.join(', ')} ${restart.length === 1 ? 'waits' : 'wait'}`;
    return warn(`${file} was edited: ${waiting} for a restart.`, 'Restart the daemon: hotcell stop, then hotcell start.');
  }
  return ok(file === undefined ? 'No config file; the defaults hold.' : `${file} is in force.`);
};

/** Has `web_search` somebody to ask, where it is on? */
export function checkSearch({ config: { builtins, search } }: Pick<DoctorFacts, 'config'>): Examination {
  if (!builtins.tools.includes('web_search')) return ok('web_search is off.');
  const problem = findSearchProblem(search);
  return problem === undefined ? ok(`web_search asks ${search.provider}.`) : warn(problem.message, problem.fix);
}

/** Is there a browser for `browser`, where it is on? */
export const checkBrowser: Check = ({ config: { builtins } }) => {
  if (!builtins.tools.includes('browser')) return ok('browser is off.');
  const executable = findChromium(builtins.browser.executable);
  return executable === undefined
    ? warn('There is no Chromium on this machine.', chromiumFix)
    : ok(`browser starts ${executable}.`);
};

/** Is everything recorded, and is the database sound? */
export const checkDatabase: Check = async ({ config, store }) => {
  const problem = store?.problem();
  if (problem !== undefined) return fail(problem.message, problem.fix);
  let damage: string | undefined;
  try {
    damage = await (store === undefined ? examineDataDir(config.dataDir) : store.examine());
  } catch (error) {
    if (!isBusyError(error)) throw error;
    return warn('hotcell.db is held by a daemon that begins or ends.', 'Ask again in a moment: hotcell doctor.');
  }
  return damage === undefined
    ? ok('Records are written, and SQLite finds no damage.')
    : fail(`hotcell.db is damaged: ${damage}`, errorCatalog['storage-damaged'].fix);
};

/** Is the port free, when no daemon of ours holds it? */
export const checkPort: Check = async ({ config: { host, port }, isServing }) => {
  if (isServing) return ok('The daemon listens.');
  const problem = await tryListen(host, port);
  return problem === undefined
    ? ok(`${host}:${port} is free.`)
    : fail(`Cannot listen on ${host}:${port} (${problem}).`, 'Stop the program that listens there, or choose another: --port N.');
};

/** Can the models of the config be asked? Nobody is asked for it: that costs tokens. */
export const checkModels: Check = ({ config, providers = readOffline(config) }) => {
  if (providers.length === 0) return ok('No provider of models is named; what needs a model says so.');
  const ready = providers.filter(({ problem }) => problem === undefined).map(({ provider }) => provider.name);
  const problems = providers.flatMap(({ problem }) => problem ?? []);
  const named = ready.length === 0 ? '' : `${ready.join(', ')} ${ready.length === 1 ? 'is' : 'are'} ready. `;
  if (problems.length === 0) return ok(`${named}Whether they answer is shown by hotcell models test.`);
  return warn(`${named}${problems.map(({ message }) => message).join(' ')}`, problems.map(({ fix }) => fix).join(' '));
};

/** Without the daemon, which alone knows the stored secrets, a key counts as there when the config or the environment has it. */
function readOffline(config: DoctorFacts['config']): readonly ProviderState[] {
  const secrets = { placeholderOf: (_owner: string, key: string) => key, findIn: () => [] };
  const sources = { configured: config.env, secrets, processEnv: process.env };
  return createModelCatalog({
    settings: config.models,
    readKey: ({ keyName = '', baseUrl, keyHeader }) => readModelKey(keyName, baseUrl, sources, keyHeader),
    lists: { read: async () => [], problemOf: () => undefined },
  }).providers();
}

function tryListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  return promise;
}

function readMode(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode;
}

function nearestFolder(path: string): string {
  let folder = dirname(path);
  while (readMode(folder) === undefined && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
