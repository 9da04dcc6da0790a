import type { DatabaseSync } from 'node:sqlite';

const idleMs = 200;
const commitsWorthwhile = 100;

/**
 * Creates the checkpoint. SQLite would make it inside the commit that fills the log, with two fsyncs that every call of
 * that moment waits for; after a burst there is a better time for it.
 */
export function createIdleCheckpoint(database: DatabaseSync) {
  const checkpoint = database.prepare('pragma wal_checkpoint(passive)');
  let commits = 0;
  const timer = setTimeout(moveLog, idleMs).unref();

  function moveLog(): void {
    if (commits < commitsWorthwhile) return;
    commits = 0;
    try {
      checkpoint.get();
    } catch {
      // A failing disk is reported by the next commit; the log stays as it is.
    }
  }

  return {
    /** A transaction was committed. */
    noteCommit(): void {
      commits++;
      timer.refresh();
    },
    close: (): void => clearTimeout(timer),
  };
}
