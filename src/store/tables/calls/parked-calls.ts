import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, readBytes } from '../../table.ts';
import type { WriteQueue } from '../../write-queue.ts';

const calls = defineTable('parked_calls', { executionId: column.text('execution_id'), factsJson: column.text('facts') });

/** A parked call; `blob` is null for a call that has not begun. */
interface ParkedCallRow {
  readonly executionId: string;
  readonly factsJson: string;
  readonly blob: Uint8Array | null;
  readonly parkedAtMs: number;
}

/** Creates the table of calls that wait for a person, as far as they are kept over restarts: a row goes with the end of its call. */
export function createParkedCallTable(database: DatabaseSync, queue: WriteQueue) {
  const put = database.prepare(
    `insert into parked_calls (execution_id, facts, blob, parked_at) values (?, ?, ?, ?)
     on conflict do update set facts = excluded.facts, blob = excluded.blob, parked_at = excluded.parked_at`,
  );
  const remove = database.prepare('delete from parked_calls where execution_id = ?');
  const all = calls.prepareSelect(database, 'order by execution_id');
  const read = database.prepare('select blob from parked_calls where execution_id = ? and blob is not null');

  return {
    /** At once, after the record of the call: the row as it is now. */
    put({ executionId, factsJson, blob, parkedAtMs }: ParkedCallRow): void {
      // The record of the call must not be younger than this row.
      queue.flush();
      writeNow(() => put.run(executionId, factsJson, blob, parkedAtMs));
    },
    /** Queued, so that it is one transaction with the end of the call. */
    remove: (executionId: string): void => queue.add({ apply: () => void remove.run(executionId) }),
    /** At once: what was kept is no longer how the call stands. */
    removeNow: (executionId: string): void => void writeNow(() => remove.run(executionId)),
    /** Oldest first, without their blobs. */
    list: () => all.all(),
    readBlob(executionId: string): Uint8Array | undefined {
      const row = read.get(executionId);
      return row && readBytes(row, 'blob');
    },
  };
}
