import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText, readTextOrNull, type SqlRow } from '../column-values.ts';
import type { WriteQueue } from '../write-queue.ts';

export interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly atMs: number;
  readonly caller: string | null;
  readonly subject: string;
  readonly dataJson: string;
}

export interface EventTable {
  /** Queued. */
  insert(row: EventRow): void;
  /** Oldest first. With a caller: its own, and of those of nobody the `publicTypes`. */
  listAfter(
    seq: number,
    query: { caller?: string; types?: readonly string[]; publicTypes?: readonly string[]; limit: number },
  ): EventRow[];
  /** The newest number that was kept or reserved. */
  lastSeq(): number;
  /** Queued. After it is committed no restart gives out a number up to this one again. */
  reserve(upTo: number): void;
  /** Queued. Keeps the newest `keep`, and of these as many as hold no more than `maxBytes`. */
  prune(keep: number, maxBytes: number): void;
}

/** A UTF-16 unit is at most three bytes of UTF-8. */
const maxBytesPerUnit = 3;

/** Creates the table of events. */
export function createEventTable(database: DatabaseSync, queue: WriteQueue): EventTable {
  const insert = database.prepare('insert into events (seq, type, at, caller, subject, data) values (?, ?, ?, ?, ?, ?)');
  const list = database.prepare(
    `select seq, type, at, caller, subject, data from events
     where seq > ?1
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
    insert(row) {
      queue.add({
        apply() {
          insert.run(row.seq, row.type, row.atMs, row.caller, row.subject, row.dataJson);
          boundBytes += row.dataJson.length * maxBytesPerUnit;
        },
      });
    },
    listAfter(seq, query) {
      queue.flush();
      const publicTypes = JSON.stringify(query.publicTypes ?? []);
      const types = query.types === undefined ? null : JSON.stringify(query.types);
      return list.all(seq, query.caller ?? null, publicTypes, types, query.limit).map(readEvent);
    },
    lastSeq() {
      queue.flush();
      return readNumber(last.get() ?? {}, 'seq');
    },
    reserve(upTo) {
      queue.add({ apply: () => reserve.run(upTo) });
    },
    prune(keep, maxBytes) {
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

function readEvent(row: SqlRow): EventRow {
  return {
    seq: readNumber(row, 'seq'),
    type: readText(row, 'type'),
    atMs: readNumber(row, 'at'),
    caller: readTextOrNull(row, 'caller'),
    subject: readText(row, 'subject'),
    dataJson: readText(row, 'data'),
  };
}
