import type { DatabaseSync } from 'node:sqlite';
import { readBytes, readText } from '../../column-values.ts';
import type { ParkedCallTable } from '../../execution-types.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { WriteQueue } from '../../write-queue.ts';

/** Creates the table of calls that wait for a person. */
export function createParkedCallTable(database: DatabaseSync, queue: WriteQueue): ParkedCallTable {
  const put = database.prepare(
    `insert into parked_calls (execution_id, facts, blob, parked_at) values (?, ?, ?, ?)
     on conflict do update set facts = excluded.facts, blob = excluded.blob, parked_at = excluded.parked_at`,
  );
  const remove = database.prepare('delete from parked_calls where execution_id = ?');
  const list = database.prepare('select execution_id, facts from parked_calls order by execution_id');
  const read = database.prepare('select blob from parked_calls where execution_id = ? and blob is not null');

  return {
    put({ executionId, factsJson, blob, parkedAtMs }) {
      // The record of the call must not be younger than this row.
      queue.flush();
      writeNow(() => put.run(executionId, factsJson, blob, parkedAtMs));
    },
    remove: (executionId) => queue.add({ apply: () => void remove.run(executionId) }),
    removeNow: (executionId) => void writeNow(() => remove.run(executionId)),
    list: () => list.all().map((row) => ({ executionId: readText(row, 'execution_id'), factsJson: readText(row, 'facts') })),
    readBlob(executionId) {
      const row = read.get(executionId);
      return row === undefined ? undefined : readBytes(row, 'blob');
    },
  };
}
