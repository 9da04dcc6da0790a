import type { HotcellError } from '../errors/hotcell-error.ts';
import type { Tables } from './tables.ts';

/**
 * The store: SQLite (`node:sqlite`, WAL, synchronous=NORMAL) in `<data>/hotcell.db`. Rows are plain data here; the
 * folders above give them meaning. Writes of the call journey are grouped: `enqueue` puts a write into the next
 * transaction, which is committed once per turn of the event loop; every read sees queued writes (it flushes first).
 */
export interface Store extends Tables {
  /**
   * Resolves when everything queued so far is committed; rejects with `storage-full` when the disk is full. Then the
   * writes stay queued and are tried again: whoever gives up on a call updates its row to `error`.
   */
  committed(): Promise<void>;
  /** Resolves as `committed` does, but not for the rows of calls that still run: they may become one write with their end. */
  committedEnds(): Promise<void>;
  /** Commits now, in this turn. Never throws: what fails is told to the waiters and to `onWriteError`. */
  flush(): void;
  /** Why nothing can be recorded now (disk full, data directory gone); undefined while all is well. Costs next to nothing. */
  problem(): HotcellError | undefined;
  /** Has SQLite look for damage; what it found, undefined when the database is sound. */
  examine(): Promise<string | undefined>;
  /** Commits what is queued and gives the data directory free. */
  close(): void;
}
