import type { DatabaseSync } from 'node:sqlite';
import { column, defineTable, type RowOf, readNumber } from '../table.ts';
import type { WriteQueue } from '../write-queue.ts';

const { text, textOrNull, number } = column;

export const events = defineTable('events', {
  seq: number('seq'),
  type: text('type'),
  atMs: number('at'),
  caller: textOrNull('caller'),
  subject: text('subject'),
  dataJson: text('data'),
});

export type EventRow = RowOf<typeof events>;

/** A UTF-16 unit is at most three bytes of UTF-8. */
const maxBytesPerUnit = 3;

/** Creates the table of events. */
export function createEventTable(database: DatabaseSync, queue: WriteQueue) {
  const insert = events.prepareInsert(database);
  const list = events.prepareSelect(
    database,
    `where seq > ?1
       and (?2 is null or caller = ?2 or (caller is null and type in (select value from json_each(?3))))
       and (?4 is null or type in (select value from json_each(?4)))
     order by seq limit ?5`,
  );
  const last = database.prepare(
    'select max((select seq from event_reservation), (select coalesce(max(seq), 0) from events)) as seq',
  );
  const reserve = database.prepare('update event_reservation set seq = max(seq, ?)');
  const prune = database.prepare('delete from events where seq <= (select seq from events order by seq desc limit 1 offset ?)');

  const sum = database.prepare('select coalesce(sum(octet_length(data)), 0) as bytes from events');
  const pruneBytes = database.prepare(
    `delete from events where seq <= (select max(seq) from
       (select seq, sum(octet_length(data)) over (order by seq desc) as bytes from events) where bytes > ?)`,
  );

  /** No more bytes of data than this are there; what was pruned by number is still counted. Not known at first. */
  let boundBytes = Number.POSITIVE_INFINITY;

  return {
    /** Queued. */
    insert(row: EventRow): void {
      queue.add({
        apply() {
          insert(row);
          boundBytes += row.dataJson.length * maxBytesPerUnit;
        },
        entry: () => events.entryOf(row),
      });
    },
    /** Oldest first. With a caller: its own, and of those of nobody the `publicTypes`. */
    listAfter(
      seq: number,
      query: { caller?: string; types?: readonly string[]; publicTypes?: readonly string[]; limit: number },
    ): EventRow[] {
      queue.flush();
      const publicTypes = JSON.stringify(query.publicTypes ?? []);
      const types = query.types === undefined ? null : JSON.stringify(query.types);
      return list.all(seq, query.caller ?? null, publicTypes, types, query.limit);
    },
    /** The newest number that was kept or reserved. */
    lastSeq(): number {
      queue.flush();
      return readNumber(last.get() ?? {}, 'seq');
    },
    /** Queued. After it is committed no restart gives out a number up to this one again. */
    reserve: (upTo: number): void => queue.add({ apply: () => reserve.run(upTo) }),
    /** Queued. Keeps the newest `keep`, and of these as many as hold no more than `maxBytes`. */
    prune(keep: number, maxBytes: number): void {
      queue.add({
        apply() {
          prune.run(keep);
          if (boundBytes <= maxBytes) return;
          boundBytes = readNumber(sum.get() ?? {}, 'bytes');
          if (boundBytes <= maxBytes) return;
          pruneBytes.run(maxBytes);
          boundBytes = maxBytes;
        },
      });
    },
  };
}
