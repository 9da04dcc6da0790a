import { DatabaseSync } from 'node:sqlite';
import { HotcellError } from '../errors/hotcell-error.ts';
import { databasePath, journalPath, prepareDataDir, readPid, removePid, writePid } from './data-dir.ts';
import { examineDatabase } from './examine.ts';
import { createIdleCheckpoint } from './idle-checkpoint.ts';
import { Journal } from './journal.ts';
import { migrate } from './migrations.ts';
import { describeStoreError, findStorageError, isBusyError } from './sqlite-error.ts';
import { watchStorage } from './storage-health.ts';
import type { Store } from './store-types.ts';
import { createTables, journaled } from './tables.ts';
import { createWriteQueue, type WriteQueue } from './write-queue.ts';

/** What a store is opened with. */
export interface StoreOptions {
  /** Absolute; created with mode 0700. */
  readonly dataDir: string;
  /** Hears of queued writes that failed. Must not throw. */
  readonly onWriteError?: (error: HotcellError) => void;
  /** Hears when nothing can be recorded any more, and when that is over. Must not throw. */
  readonly onProblem?: (problem: HotcellError | undefined) => void;
  /** Upper bound of the database file; beyond it writes fail as if the disk were full. */
  readonly maxDatabaseBytes?: number;
}

const pageBytes = 4096;

/**
 * Opens the store of a data directory, which it holds alone until `close` or the end of the process. Throws `conflict`
 * when another daemon holds it or a newer Hotcell wrote it, `storage-damaged` when the file is no sound database, and
 * `storage-failed` when the directory cannot be used.
 */
export function openStore(options: StoreOptions): Store {
  const { dataDir } = options;
  prepareDataDir(dataDir);
  const database = openDatabase(dataDir);
  try {
    configure(database, options.maxDatabaseBytes);
    migrate(database);
    writePid(dataDir);
    return createStore(database, new Journal(journalPath(dataDir)), options);
  } catch (error) {
    database.close();
    throw explainOpening(error, dataDir);
  }
}

function openDatabase(dataDir: string): DatabaseSync {
  try {
    // A daemon that is being restarted may need a moment to let go.
    return new DatabaseSync(databasePath(dataDir), { timeout: 500 });
  } catch (error) {
    throw explainOpening(error, dataDir);
  }
}

/**
 * The exclusive lock keeps a second daemon out, ends with the process however that ends, and saves SQLite the locking
 * calls and the shared-memory file of every transaction.
 */
function configure(database: DatabaseSync, maxDatabaseBytes: number | undefined): void {
  database.exec(`
    pragma locking_mode = exclusive;
    pragma journal_mode = wal;
    pragma synchronous = normal;
    pragma cache_size = -16000;
    pragma temp_store = memory;
    pragma wal_autocheckpoint = 8000;
    pragma journal_size_limit = 67108864;
    pragma trusted_schema = off;
    begin immediate;
    commit;
  `);
  if (maxDatabaseBytes !== undefined) database.exec(`pragma max_page_count = ${Math.floor(maxDatabaseBytes / pageBytes)}`);
}

function createStore(database: DatabaseSync, journal: Journal, options: StoreOptions): Store {
  const { dataDir, onWriteError = () => {}, onProblem = () => {} } = options;
  const health = watchStorage(dataDir, onProblem);
  const checkpoint = createIdleCheckpoint(database);
  const hooks = {
    onWriteError,
    onCommit() {
      health.noteCommit();
      checkpoint.noteCommit();
    },
    onFailure: health.noteFailure,
    makeRoom: health.makeRoom,
  };
  const queue = createWriteQueue(database, hooks, journal);
  writeLeft(dataDir, database, queue, journal);
  let isClosed = false;
  return {
    ...createTables(database, queue),
    committed: queue.committed,
    committedEnds: queue.committedEnds,
    flush: queue.flush,
    problem: health.problem,
    examine: () => examineDatabase(database),
    close() {
      if (isClosed) return;
      isClosed = true;
      queue.close();
      journal.close();
      health.close();
      checkpoint.close();
      removePid(dataDir);
      database.close();
    },
  };
}

/** What a killed process left in its journal is written before anything else; while the disk is full it waits like all other writes. */
function writeLeft(dataDir: string, database: DatabaseSync, queue: WriteQueue, journal: Journal): void {
  const left = journal.readLeft();
  const restore = new Map(left.length === 0 ? [] : journaled.map((table) => [table.name, table.prepareRestore(database)]));
  for (const [table, ...values] of left) queue.addKept({ apply: () => restore.get(String(table))?.(values) });
  queue.flush();
  if (!queue.isEmpty() || journal.clear()) return;
  // The next start would write these rows over what became of them since.
  throw new HotcellError('storage-failed', `${journalPath(dataDir)} was read and cannot be emptied.`, {
    fix: 'See who may write it, and whether it is made for appending alone: lsattr.',
  });
}

function explainOpening(error: unknown, dataDir: string): HotcellError {
  if (isBusyError(error)) {
    const pid = readPid(dataDir);
    const owner = pid === undefined ? 'Another hotcell' : `Another hotcell (pid ${pid})`;
    return new HotcellError('conflict', `${owner} uses the data directory ${dataDir}.`, {
      fix: 'Stop it first, or choose another data directory: --data DIR.',
      cause: error,
    });
  }
  const described = findStorageError(error) ?? describeStoreError(error);
  if (described.code !== 'storage-damaged') return described;
  return new HotcellError(described.code, `${databasePath(dataDir)} is not a sound SQLite database.`, { cause: error });
}
