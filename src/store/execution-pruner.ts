import type { DatabaseSync } from 'node:sqlite';
import { readText } from './column-values.ts';

/** Deletes old executions and their recordings. Runs inside a transaction. */
export interface ExecutionPruner {
  prune(keep: number): void;
}

const maxRowsAtOnce = 1000;
const roundsUntilRestart = 64;

/**
 * Creates the pruner. It remembers how far it came, so that rows that stay because an idempotency key names them are not
 * looked at every time, and begins anew every 64 rounds, because keys expire.
 */
export function createExecutionPruner(database: DatabaseSync): ExecutionPruner {
  const findNewestToDelete = database.prepare('select id from executions order by id desc limit 1 offset ?');
  const findOldest = database.prepare(
    `select id from executions where id > ? and id <= ? and ended_at is not null
       and not exists (select 1 from idempotency where execution_id = executions.id)
     order by id limit ?`,
  );
  const remove = database.prepare('delete from executions where id = ?');
  const removeRecording = database.prepare('delete from recordings where execution_id = ?');
  let checkedUpTo = '';
  let rounds = 0;

  return {
    prune(keep) {
      const newest = findNewestToDelete.get(keep);
      if (newest === undefined) return;
      if (rounds++ % roundsUntilRestart === 0) checkedUpTo = '';
      const newestId = readText(newest, 'id');
      const ids = findOldest.all(checkedUpTo, newestId, maxRowsAtOnce).map((row) => readText(row, 'id'));
      for (const id of ids) {
        remove.run(id);
        removeRecording.run(id);
      }
      checkedUpTo = ids.length === maxRowsAtOnce ? (ids.at(-1) ?? '') : newestId;
    },
  };
}
