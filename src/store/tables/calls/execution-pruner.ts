import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../../table.ts';

const maxRowsAtOnce = 1000;
const roundsUntilRestart = 64;
/** Deleting goes on to a little below the bound, so that it is not reached again with the next call. */
const fillTo = 15 / 16;
const rowsOfHeaviest = 50;

/** Every request of an anonymous caller has a caller of its own; here they are one. */
const owner = `case when executions.caller like 'anonymous:%' then 'anonymous:' else executions.caller end`;
// octet_length reads the head of a row alone, however long the value is.
const sizeOfRow = `octet_length(arguments) + ifnull(octet_length(output), 0) + ifnull(octet_length(error), 0)`;

/**
 * Creates what deletes old executions and their recordings, inside a transaction. It remembers how far it came, so that rows that stay because an idempotency key names them are not
 * looked at every time, and begins anew every 64 rounds, because keys expire.
 */
export function createExecutionPruner(database: DatabaseSync) {
  // Counting reads the smallest index alone; walking to the newest of those to go would read nearly all that stays.
  const count = database.prepare('select count(*) as count from executions');
  const findFromOldest = database.prepare('select id from executions order by id limit 1 offset ?');
  const findOldest = database.prepare(
    `select id from executions where id > ? and id <= ? and ended_at is not null
       and not exists (select 1 from idempotency where execution_id = executions.id)
     order by id limit ?`,
  );
  const remove = database.prepare('delete from executions where id = ?');
  const removeRecording = database.prepare('delete from recordings where execution_id = ?');
  const readUsage = database.prepare(
    'select (select page_count from pragma_page_count) - (select freelist_count from pragma_freelist_count) as pages,' +
      ' (select page_size from pragma_page_size) as size',
  );
  const sumByOwner = database.prepare(
    `select owner, sum(bytes) as bytes from (
       select ${owner} as owner, ${sizeOfRow} as bytes from executions where ended_at is not null
       union all
       select ${owner}, octet_length(blob) from recordings join executions on id = execution_id)
     group by owner`,
  );
  const findOldestOf = database.prepare(
    `select id, ${sizeOfRow} + ifnull((select octet_length(blob) from recordings where execution_id = id), 0) as bytes
     from executions where (caller = ?1 or (?1 = 'anonymous:' and caller like 'anonymous:%')) and ended_at is not null
     order by id limit ?2`,
  );
  let checkedUpTo = '';
  let rounds = 0;

  function removeRow(id: string): void {
    remove.run(id);
    removeRecording.run(id);
  }

  function pruneRows(keep: number): void {
    const superfluous = readNumber(count.get() ?? {}, 'count') - keep;
    const newest = superfluous > 0 ? findFromOldest.get(superfluous - 1) : undefined;
    if (newest === undefined) return;
    if (rounds++ % roundsUntilRestart === 0) checkedUpTo = '';
    const newestId = readText(newest, 'id');
    const ids = findOldest.all(checkedUpTo, newestId, maxRowsAtOnce).map((row) => readText(row, 'id'));
    for (const id of ids) removeRow(id);
    checkedUpTo = ids.length === maxRowsAtOnce ? (ids.at(-1) ?? '') : newestId;
  }

  /** Who has most loses its oldest first, until all of them together fit: nobody else's records pay for a flood. */
  function pruneBytes(maxBytes: number): void {
    const usage = readUsage.get() ?? {};
    // Cheap, and nearly always the end: the whole database is smaller than what records alone may hold.
    if (readNumber(usage, 'pages') * readNumber(usage, 'size') <= maxBytes) return;
    const bytesByOwner = new Map(sumByOwner.all().map((row) => [readText(row, 'owner'), readNumber(row, 'bytes')]));
    let total = [...bytesByOwner.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (total <= maxBytes) return;
    for (let removed = 0; total > maxBytes * fillTo && removed < maxRowsAtOnce; ) {
      const [heaviest, held] = [...bytesByOwner].reduce((most, each) => (each[1] > most[1] ? each : most));
      const rows = findOldestOf.all(heaviest, rowsOfHeaviest);
      if (rows.length === 0) return;
      let freed = 0;
      for (const row of rows) {
        if (total - freed <= maxBytes * fillTo) break;
        removeRow(readText(row, 'id'));
        freed += readNumber(row, 'bytes');
        removed++;
      }
      total -= freed;
      bytesByOwner.set(heaviest, held - freed);
    }
  }

  return {
    prune(keep: number, maxBytes: number): void {
      pruneRows(keep);
      pruneBytes(maxBytes);
    },
  };
}
