import { execFile } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { findDeno } from '../../engines/process/deno/find-deno.ts';
import { type Check, type Examination, fail, info, ok, warn } from './check.ts';

const neededNodeMajor = 24;
const scarceDiskBytes = 512 * 1024 * 1024;
const scarceWatches = 8192;
const startMs = 5000;

/** Is this Node new enough? */
export const checkNode: Check = () => {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= neededNodeMajor) return ok(`Node ${node}.`);
  return fail(
    `Node ${node} runs, but ${neededNodeMajor} or newer is needed.`,
    `Install Node ${neededNodeMajor}, or run npm ci in the folder of Hotcell, which brings one.`,
  );
};

/** Is there room for the database and the generations? */
export const checkDisk: Check = ({ config }) => {
  const stats = statNearest(config.dataDir);
  if (stats === undefined) return info('The free space on the disk could not be read.');
  const freeBytes = stats.bavail * stats.bsize;
  const free = `${Math.floor(freeBytes / 1024 / 1024)} MiB free on the disk of the data directory.`;
  return freeBytes >= scarceDiskBytes ? ok(free) : warn(free, 'Free some space, or choose another data directory: --data DIR.');
};

/** May enough folders be watched? Linux only. */
export const checkWatchLimit: Check = () => {
  if (process.platform !== 'linux') return ok(`No limit of watches on ${process.platform}.`);
  const limit = readNumber('/proc/sys/fs/inotify/max_user_watches');
  const instances = readNumber('/proc/sys/fs/inotify/max_user_instances');
  if (limit === undefined || instances === undefined) return info('The limit of watches could not be read.');
  const message = `${limit} watches and ${instances} watchers are allowed to this user.`;
  if (limit >= scarceWatches && instances >= 64) return ok(message);
  return warn(
    message,
    'Raise it: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512. Or set watch.polling in the config.',
  );
};

/** Does the compiler start? Its install script may have been blocked. */
export const checkEsbuild: Check = async () => {
  const broken = (cause: string): Examination =>
    fail(`esbuild does not work: ${cause}.`, 'Install again with its install script allowed: npm rebuild esbuild');
  try {
    const { transform, version } = await import('esbuild');
    const { code } = await transform('const one: number = 1', { loader: 'ts' });
    return code.includes('const one = 1') ? ok(`esbuild ${version} compiles.`) : broken('it gave another result than expected');
  } catch (error) {
    return broken(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
};

/** Is Deno there, and does it start? Only plugins that ask for that engine need it. */
export async function checkDeno(env: NodeJS.ProcessEnv = process.env): Promise<Examination> {
  const file = findDeno({ env, platform: process.platform, arch: process.arch });
  if (file === undefined) {
    return info(
      'Deno is not installed; only plugins that ask for the engine "deno" need it.',
      'Install it if you need it (npm install deno), or name its binary in HOTCELL_DENO.',
    );
  }
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], { env: {}, timeout: startMs });
    const [version = 'Deno'] = stdout.replace(/^deno/, 'Deno').split(' (');
    return ok(`${version} is at ${file}.`);
  } catch {
    return warn(`Deno is at ${file}, but does not start.`, 'Install one for this machine and name it in HOTCELL_DENO.');
  }
}

/** The data directory may not exist yet: its nearest ancestor lies on the same disk. */
function statNearest(path: string): { bavail: number; bsize: number } | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      return statfsSync(folder);
    } catch {
      if (dirname(folder) === folder) return undefined;
    }
  }
}

function readNumber(file: string): number | undefined {
  try {
    const value = Number.parseInt(readFileSync(file, 'utf8'), 10);
    return Number.isNaN(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
