import { rmSync, stat, statfs, statSync, writeFile } from 'node:fs';
import { join } from 'node:path';
import { HotcellError } from '../errors/hotcell-error.ts';
import { databasePath } from './data-dir.ts';

/** What the records of calls that run already need when the disk becomes full: no new call begins until it is there again. */
const reserveBytes = 2 * 1024 * 1024;
const lookEveryMs = 1000;

/**
 * Watches over the data directory. A file of a few MiB keeps room on the disk; without it, while writing fails, and while the
 * database is not where it was opened, there is a problem. `onChange` hears of its begin and its end; it must not throw.
 */
export function watchStorage(dataDir: string, onChange: (problem: HotcellError | undefined) => void) {
  const database = databasePath(dataDir);
  const reserve = join(dataDir, 'reserve');
  const opened = statSync(database);
  let failure: HotcellError | undefined;
  let lack: HotcellError | undefined;
  let absence: HotcellError | undefined;
  let told: string | undefined;
  let isReserved = false;
  let isFilling = false;
  let isClosed = false;
  const first = setImmediate(fillReserve);
  const timer = setInterval(look, lookEveryMs).unref();

  const problem = (): HotcellError | undefined => absence ?? failure ?? lack;

  function tell(): void {
    const now = problem();
    if (now?.message === told || isClosed) return;
    told = now?.message;
    onChange(now);
  }

  function look(): void {
    stat(database, (error, found) => {
      const isGone = error?.code === 'ENOENT' || error?.code === 'ENOTDIR';
      const isOther = found !== undefined && (found.ino !== opened.ino || found.dev !== opened.dev);
      absence = isGone || isOther ? describeAbsence(dataDir) : undefined;
      tell();
    });
    if (!isReserved) fillReserve();
  }

  /** Only where there is room for as much again: what writes in the meantime must not fail because of it. */
  function fillReserve(): void {
    if (isFilling || isClosed || absence !== undefined) return;
    isFilling = true;
    statfs(dataDir, (error, disk) => {
      if (error !== null || disk.bavail * disk.bsize < 2 * reserveBytes) {
        endFilling(error === null ? describeLack() : undefined);
        return;
      }
      writeFile(reserve, Buffer.alloc(reserveBytes), { mode: 0o600 }, (failed) => {
        if (failed !== null) removeReserve();
        else isReserved = true;
        endFilling(failed === null ? undefined : describeLack(failed));
      });
    });
  }

  function endFilling(found: HotcellError | undefined): void {
    isFilling = false;
    if (isClosed) removeReserve();
    else lack = found;
    tell();
  }

  function removeReserve(): void {
    isReserved = false;
    try {
      rmSync(reserve, { force: true });
    } catch {
      // The reserve keeps its room; nothing else depends on it.
    }
  }

  return {
    /** Why nothing can be recorded now; undefined while all is well. */
    problem,
    /** A transaction failed, and is tried again. */
    noteFailure(error: HotcellError): void {
      failure = error;
      tell();
    },
    noteCommit(): void {
      if (failure === undefined) return;
      failure = undefined;
      tell();
    },
    /** Gives the room that was kept for this moment to what runs already; false when it is used up. */
    makeRoom(error: HotcellError): boolean {
      if (!isReserved) return false;
      removeReserve();
      lack = error;
      tell();
      return true;
    },
    close(): void {
      isClosed = true;
      clearImmediate(first);
      clearInterval(timer);
      removeReserve();
    },
  };
}

function describeLack(cause?: unknown): HotcellError {
  const message = 'The disk of the data directory is full: nothing begins that could not be recorded.';
  return new HotcellError('storage-full', message, { cause });
}

function describeAbsence(dataDir: string): HotcellError {
  const message = `The data directory ${dataDir} was removed or replaced while hotcell runs: nothing is recorded any more.`;
  return new HotcellError('storage-failed', message, { fix: 'Put it back where it was, or start hotcell again.' });
}
