import { HotcellError } from '../errors/hotcell-error.ts';
import { readErrorCode } from '../errors/system-error.ts';

// Primary result codes of SQLite, https://sqlite.org/rescode.html.
const busy = 5;
const ioError = 10;
const corrupt = 11;
const full = 13;
const notADatabase = 26;
const readOnly = 8;
const cannotOpen = 14;
const storageCodes: ReadonlySet<number> = new Set([readOnly, ioError, corrupt, full, cannotOpen, notADatabase]);
/** Failures that belong to one row (too big, constraint, mismatch, range); everything else concerns the whole database. */
const rowCodes: ReadonlySet<number> = new Set([18, 19, 20, 25]);

/** The primary result code of an error of `node:sqlite`, or undefined for any other exception. */
export function readSqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

/** True when the write itself is at fault, so that trying it again would fail again. */
export function isRowError(error: unknown): boolean {
  const code = readSqliteCode(error);
  return code === undefined || rowCodes.has(code);
}

/** True when another connection holds the database. */
export function isBusyError(error: unknown): boolean {
  return readSqliteCode(error) === busy;
}

/** Says what an exception of SQLite means for the operator. */
export function describeStoreError(error: unknown): HotcellError {
  if (error instanceof HotcellError) return error;
  const options = { cause: error };
  switch (readSqliteCode(error)) {
    case full:
      return new HotcellError('storage-full', 'A record could not be written because the disk is full.', options);
    case corrupt:
    case notADatabase:
      return new HotcellError('storage-damaged', 'The file hotcell.db is not a sound SQLite database.', options);
    case ioError:
      return new HotcellError('storage-failed', 'The disk reported a failure while hotcell.db was used.', options);
    default: {
      const reason = error instanceof Error ? error.message : String(error);
      return new HotcellError('storage-failed', `The database hotcell.db could not be used: ${reason}.`, options);
    }
  }
}

/** What the disk or the database did, when that is what a failure is about; undefined for every other. */
export function findStorageError(error: unknown): HotcellError | undefined {
  if (error instanceof HotcellError) return error.code.startsWith('storage-') ? error : undefined;
  const sqliteCode = readSqliteCode(error);
  if (sqliteCode !== undefined) return storageCodes.has(sqliteCode) ? describeStoreError(error) : undefined;
  const code = readErrorCode(error);
  const place = error instanceof Error && 'path' in error ? String(error.path) : 'A file of the data directory';
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new HotcellError('storage-full', `${place} could not be written because the disk is full.`, { cause: error });
  }
  if (code !== 'EROFS' && code !== 'EIO') return undefined;
  return new HotcellError('storage-failed', `${place} could not be used: the disk says ${code}.`, { cause: error });
}

/** Runs one statement at once; what SQLite throws becomes a HotcellError. */
export function writeNow<Result>(write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    throw describeStoreError(error);
  }
}
