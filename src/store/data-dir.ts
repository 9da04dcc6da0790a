import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '../errors/hotcell-error.ts';
import { readErrorCode } from '../errors/system-error.ts';
import { makeFolders } from '../file-system/paths.ts';

const pidFile = 'hotcell.pid';
const databaseFile = 'hotcell.db';

/** Where the database of a data directory is. */
export function databasePath(dataDir: string): string {
  return join(dataDir, databaseFile);
}

/** Where the rows are that the next transaction will write. */
export function journalPath(dataDir: string): string {
  return join(dataDir, 'hotcell.journal');
}

/**
 * Makes sure that the data directory exists and that nobody else can read it (0700): it holds the admin token. A folder
 * that belongs to somebody else, or that holds other things and is open to others, is refused with `storage-failed`.
 */
export function prepareDataDir(dataDir: string): void {
  try {
    makeFolders(dataDir, 0o700);
    closeToOthers(dataDir);
  } catch (error) {
    if (error instanceof HotcellError) throw error;
    const reason = readErrorCode(error) ?? String(error);
    throw new HotcellError('storage-failed', `The data directory ${dataDir} cannot be created or opened (${reason}).`, {
      fix: 'Choose a folder that you may write: --data DIR.',
      cause: error,
    });
  }
}

function closeToOthers(dataDir: string): void {
  const { uid, mode } = statSync(dataDir);
  const ownUid = process.getuid?.();
  if (ownUid === undefined) return;
  if (ownUid !== 0 && uid !== ownUid) {
    throw new HotcellError('storage-failed', `The data directory ${dataDir} belongs to another user (uid ${uid}).`, {
      fix: 'Choose a folder of your own: --data DIR.',
    });
  }
  if ((mode & 0o077) === 0) return;
  const entries = readdirSync(dataDir);
  const hasDatabase = entries.includes(databaseFile);
  const isOpenToAll = (mode & 0o007) !== 0;
  const octal = (mode & 0o777).toString(8);
  // Changing the mode of a folder that is not ours (a home, /tmp) would lock others out of it.
  if (entries.length > 0 && !hasDatabase) {
    const message = `The data directory ${dataDir} holds other files and is open to others (${octal}).`;
    throw new HotcellError('storage-failed', message, {
      fix: `Choose a folder of its own, or close it: chmod 700 ${dataDir}.`,
    });
  }
  // A daemon closes its folder before it puts anything into it.
  if (hasDatabase && isOpenToAll) {
    const message = `The data directory ${dataDir} is open to others (${octal}), as one is that came with a clone: what is granted and approved in it would count.`;
    throw new HotcellError('storage-failed', message, {
      fix: `If it is yours, close it: chmod 700 ${dataDir}. Else move it away, or choose another folder.`,
    });
  }
  chmodSync(dataDir, 0o700);
}

/** Notes who uses the data directory. Only for the message to a second daemon: the lock itself is SQLite's. */
export function writePid(dataDir: string): void {
  writeFileSync(join(dataDir, pidFile), `${process.pid}\n`, { mode: 0o600 });
}

/** Who uses the data directory, as far as it was noted. */
export function readPid(dataDir: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(join(dataDir, pidFile), 'utf8'), 10);
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Takes the note away. */
export function removePid(dataDir: string): void {
  rmSync(join(dataDir, pidFile), { force: true });
}
