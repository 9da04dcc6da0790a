import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../engines/running-process.ts';

const prefix = 'hotcell-browser-';
/** The user who has nothing. */
const nobody = 65_534;
const niceness = '10';
/** What a browser writes into one file, in blocks of 512 bytes. */
const fileBlocks = 131_072;

/** Makes the folder of one browser; with it go those that a daemon left behind which was killed. */
export function makeBrowserHome(): string {
  for (const name of readdirSync(tmpdir())) if (isLeft(name)) remove(join(tmpdir(), name));
  const home = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  if (isRoot()) chownSync(home, nobody, nobody);
  return home;
}

/** Removes it, as far as it is there. */
export function removeBrowserHome(home: string): void {
  remove(home);
}

/**
 * The words that start a browser: no core files, no large ones, behind everything else of the machine, ended with its parent, and
 * of a daemon that is root as the user who has nothing.
 */
export function listLaunchWords(executable: string): readonly [string, ...string[]] {
  const script = `ulimit -c 0; ulimit -f ${fileBlocks}; exec nice -n ${niceness} "$@"`;
  return ['/bin/sh', '-c', script, 'sh', ...listParentDeath(), executable];
}

function listParentDeath(): readonly string[] {
  if (process.platform !== 'linux') return [];
  const user = isRoot() ? ['--reuid', `${nobody}`, '--regid', `${nobody}`, '--clear-groups', '--no-new-privs'] : [];
  const words = ['setpriv', '--pdeathsig', 'KILL', ...user, '--'];
  const [command = '', ...others] = words;
  if (!isRoot() && spawnSync(command, [...others, '/bin/sh', '-c', 'exit 0'], { stdio: 'ignore' }).status !== 0) return [];
  return words;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function isLeft(name: string): boolean {
  const [, pid] = /^hotcell-browser-(\d+)-/.exec(name) ?? [];
  return pid !== undefined && !isRunning(Number(pid));
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // The folder is somebody else's, or in use: the next browser tries again.
  }
}
