import { accessSync, constants, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { chromiumFix, findChromium } from '../../builtins/browser/find-chromium.ts';
import { findSearchProblem } from '../../config/settings/search-settings.ts';
import { errorCatalog } from '../../errors/catalog.ts';
import { examineDataDir } from '../../store/examine.ts';
import { isBusyError } from '../../store/sqlite-error.ts';
import type { Finding } from '../contracts/daemon.ts';
import type { DoctorFacts } from './doctor-facts.ts';

/** Can the data directory be written, and only by its owner? */
export function checkDataDir({ config }: DoctorFacts): Finding {
  const name = 'data directory';
  const { dataDir } = config;
  const mode = readMode(dataDir);
  const folder = mode === undefined ? nearestFolder(dataDir) : dataDir;
  if (!isWritable(folder)) {
    return {
      name,
      status: 'fail',
      message: `${folder} cannot be written by this user.`,
      fix: `Give this user the right to write it, or choose another: --data DIR.`,
    };
  }
  if (mode === undefined) return { name, status: 'ok', message: `${dataDir} will be made at the first start.` };
  if ((mode & 0o077) !== 0) {
    return { name, status: 'warn', message: `${dataDir} is open to other users.`, fix: `Close it: chmod 700 ${dataDir}` };
  }
  return { name, status: 'ok', message: `${dataDir} is writable and private.` };
}

/** Is what the config file says in force? */
export function checkConfig({ config, configState }: DoctorFacts): Finding {
  const name = 'config';
  const { problem, restart = [], file = config.configFile } = configState ?? {};
  if (problem !== undefined) {
    return { name, status: 'warn', message: `${problem} The values from before stay in force.`, fix: `Mend ${file}.` };
  }
  if (restart.length > 0) {
    const message = `${file} was edited: ${restart.join(', ')} ${restart.length === 1 ? 'waits' : 'wait'} for a restart.`;
    return { name, status: 'warn', message, fix: 'Restart the daemon: hotcell stop, then hotcell start.' };
  }
  return { name, status: 'ok', message: file === undefined ? 'No config file; the defaults hold.' : `${file} is in force.` };
}

/** Has `web_search` somebody to ask, where it is on? */
export function checkSearch({ config: { builtins, search } }: DoctorFacts): Finding {
  const name = 'web search';
  if (!builtins.tools.includes('web_search')) return { name, status: 'ok', message: 'web_search is off.' };
  const problem = findSearchProblem(search);
  return problem === undefined
    ? { name, status: 'ok', message: `web_search asks ${search.provider}.` }
    : { name, status: 'warn', ...problem };
}

/** Is there a browser for `browser`, where it is on? */
export function checkBrowser({ config: { builtins } }: DoctorFacts): Finding {
  const name = 'browser';
  if (!builtins.tools.includes('browser')) return { name, status: 'ok', message: 'browser is off.' };
  const executable = findChromium(builtins.browser.executable);
  return executable === undefined
    ? { name, status: 'warn', message: 'There is no Chromium on this machine.', fix: chromiumFix }
    : { name, status: 'ok', message: `browser starts ${executable}.` };
}

/** Is everything recorded, and is the database sound? */
export async function checkDatabase({ config, store }: DoctorFacts): Promise<Finding> {
  const name = 'database';
  const problem = store?.problem();
  if (problem !== undefined) return { name, status: 'fail', message: problem.message, fix: problem.fix };
  let damage: string | undefined;
  try {
    damage = await (store === undefined ? examineDataDir(config.dataDir) : store.examine());
  } catch (error) {
    if (!isBusyError(error)) throw error;
    const message = 'hotcell.db is held by a daemon that begins or ends.';
    return { name, status: 'warn', message, fix: 'Ask again in a moment: hotcell doctor.' };
  }
  if (damage === undefined) return { name, status: 'ok', message: 'Records are written, and SQLite finds no damage.' };
  return { name, status: 'fail', message: `hotcell.db is damaged: ${damage}`, fix: errorCatalog['storage-damaged'].fix };
}

/** Is the port free, when no daemon of ours holds it? */
export async function checkPort({ config, isServing }: DoctorFacts): Promise<Finding> {
  const { host, port } = config;
  if (isServing) return { name: 'port', status: 'ok', message: 'The daemon listens.' };
  const problem = await tryListen(host, port);
  if (problem === undefined) return { name: 'port', status: 'ok', message: `${host}:${port} is free.` };
  return {
    name: 'port',
    status: 'fail',
    message: `Cannot listen on ${host}:${port} (${problem}).`,
    fix: 'Stop the program that listens there, or choose another: --port N.',
  };
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
