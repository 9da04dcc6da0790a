import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText } from '../../table.ts';

const maxRowsAtOnce = 1000;
const roundsUntilRestart = 64;
/** Deleting goes on to a little below the bound, so that it is not reached again with the next call. */
const fillTo = 15 / 16;
const rowsOfHeaviest = 50;

/** Every request of an anonymous caller has a caller of its own; here they are one. */
const owner = `case when executions.caller like 'anonymous:%' then 'anonymous:' else executions.caller end`;
const isOf = 'caller = ?1';
/** Read from the oldest row on: those of one owner are not in the order of their time in the index. */
const isAnonymous = `?1 = 'anonymous:' and +caller like 'anonymous:%'`;
// octet_length reads the head of a row alone, however long the value is.
const sizeOfRow = `octet_length(arguments) + ifnull(octet_length(output), 0) + ifnull(octet_length(error), 0)`;

/**
 * Creates what deletes old executions and their recordings, inside a transaction. It remembers how far it came with each caller, so that rows that stay because an idempotency key names
 * them are not looked at every time, and begins anew every 64 rounds, because keys expire.
 */
export function createExecutionPruner(database: DatabaseSync) {
  // Counting reads the smallest index alone.
  const count = database.prepare('select count(*) as count from executions');
  const countNew = database.prepare(
    `select ${owner} as owner, count(*) as count, max(id) as newest from executions where id > ? group by owner`,
  );
  const prepareOfOwner = (whose: string) => ({
    findFromOldest: database.prepare(`select id from executions where ${whose} order by id limit 1 offset ?2`),
    findRemovable: database.prepare(
      `select id from executions where ${whose} and id > ?2 and id <= ?3 and ended_at is not null
         and not exists (select 1 from idempotency where execution_id = executions.id)
       order by id limit ?4`,
    ),
  });
  const ofCaller = prepareOfOwner(isOf);
  const ofAnonymous = prepareOfOwner(isAnonymous);
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
     from executions where (${isOf} or (${isAnonymous})) and ended_at is not null
     order by id limit ?2`,
  );
  const checkedUpTo = new Map<string, string>();
  const rowsByOwner = new Map<string, number>();
  let countedUpTo = '';
  let rounds = 0;

  function removeRow(id: string, whose: string): void {
    remove.run(id);
    removeRecording.run(id);
    rowsByOwner.set(whose, Math.max(0, (rowsByOwner.get(whose) ?? 0) - 1));
  }

  /** Counting all of them takes as long as hundreds of calls. */
  function countRows(): void {
    if (rounds++ % roundsUntilRestart === 0) {
      checkedUpTo.clear();
      rowsByOwner.clear();
      countedUpTo = '';
    }
    for (const row of countNew.all(countedUpTo)) {
      const whose = readText(row, 'owner');
      rowsByOwner.set(whose, (rowsByOwner.get(whose) ?? 0) + readNumber(row, 'count'));
      const newest = readText(row, 'newest');
      if (newest > countedUpTo) countedUpTo = newest;
    }
  }

  /** Whoever has no more than its share loses nothing for those who have more. */
  function pruneRows(keep: number): void {
    if (readNumber(count.get() ?? {}, 'count') <= keep) return;
    countRows();
    const share = shareOf(keep, [...rowsByOwner.values()]);
    let left = maxRowsAtOnce;
    for (const [whose, held] of rowsByOwner) {
      if (held <= share) continue;
      const { findFromOldest, findRemovable } = whose === 'anonymous:' ? ofAnonymous : ofCaller;
      const newest = findFromOldest.get(whose, held - share - 1);
      if (newest === undefined) continue;
      const newestId = readText(newest, 'id');
      const ids = findRemovable.all(whose, checkedUpTo.get(whose) ?? '', newestId, left).map((row) => readText(row, 'id'));
      for (const id of ids) removeRow(id, whose);
      checkedUpTo.set(whose, ids.length === left ? (ids.at(-1) ?? '') : newestId);
      left -= ids.length;
      if (left === 0) return;
    }
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
        removeRow(readText(row, 'id'), heaviest);
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

/** The most that each may have so that all together have no more than `keep`. */
function shareOf(keep: number, counts: readonly number[]): number {
  let left = keep;
  for (const [index, held] of counts.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (counts.length - index));
    if (held > share) return share;
    left -= held;
  }
  return keep;
}
