import { readFileSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../contracts/daemon.ts';
import type { DoctorFacts } from './doctor-facts.ts';

const neededNodeMajor = 24;
const scarceDiskBytes = 512 * 1024 * 1024;
const scarceWatches = 8192;

/** Is this Node new enough? */
export function checkNode(): Finding {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= neededNodeMajor) return { name: 'node', status: 'ok', message: `Node ${node}.` };
  return {
    name: 'node',
    status: 'fail',
    message: `Node ${node} runs, but ${neededNodeMajor} or newer is needed.`,
    fix: `Install Node ${neededNodeMajor}, or run npm ci in the folder of Hotcell, which brings one.`,
  };
}

/** Is there room for the database and the generations? */
export function checkDisk({ config }: DoctorFacts): Finding {
  const stats = statNearest(config.dataDir);
  if (stats === undefined) return { name: 'disk', status: 'info', message: 'The free space on the disk could not be read.' };
  const freeBytes = stats.bavail * stats.bsize;
  const free = `${Math.floor(freeBytes / 1024 / 1024)} MiB free on the disk of the data directory.`;
  if (freeBytes >= scarceDiskBytes) return { name: 'disk', status: 'ok', message: free };
  return { name: 'disk', status: 'warn', message: free, fix: 'Free some space, or choose another data directory: --data DIR.' };
}

/** May enough folders be watched? Linux only. */
export function checkWatchLimit(): Finding {
  if (process.platform !== 'linux')
    return { name: 'watches', status: 'ok', message: `No limit of watches on ${process.platform}.` };
  const limit = readNumber('/proc/sys/fs/inotify/max_user_watches');
  const instances = readNumber('/proc/sys/fs/inotify/max_user_instances');
  if (limit === undefined || instances === undefined) {
    return { name: 'watches', status: 'info', message: 'The limit of watches could not be read.' };
  }
  const message = `${limit} watches and ${instances} watchers are allowed to this user.`;
  if (limit >= scarceWatches && instances >= 64) return { name: 'watches', status: 'ok', message };
  return {
    name: 'watches',
    status: 'warn',
    message,
    fix: 'Raise it: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512. Or set watch.polling in the config.',
  };
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
