import type { DatabaseSync } from 'node:sqlite';
import { Counts } from '../../collections/counts.ts';
import { quotas } from '../../config/quotas.ts';
import { writeNow } from '../sqlite-error.ts';
import { column, defineTable, type RowOf, readNumber, readText } from '../table.ts';

const answers = defineTable('kept_answers', {
  caller: column.text('caller'),
  key: column.text('key'),
  value: column.text('value'),
  atMs: column.number('at'),
});

/** One thing that a later request of the same caller may ask for. */
export type KeptAnswerRow = RowOf<typeof answers>;
export type KeptAnswerTable = ReturnType<typeof createKeptAnswerTable>;

const { each, perCaller, inAll } = quotas['disk.answers'];

/** Creates the table of what later requests to models may ask for. */
export function createKeptAnswerTable(
  database: DatabaseSync,
  bounds: { readonly each: number; readonly perCaller: number; readonly inAll: number } = { each: each.max, perCaller, inAll },
) {
  const put = database.prepare(
    `insert into kept_answers (caller, key, value, bytes, at) values (?, ?, ?, ?, ?)
     on conflict do update set value = excluded.value, bytes = excluded.bytes, at = excluded.at`,
  );
  const claim = database.prepare(
    'insert into kept_answers (caller, key, value, bytes, at) values (?, ?, ?, ?, ?) on conflict do nothing',
  );
  const get = answers.prepareSelect(database, 'where caller = ? and key = ?');
  const bytesOf = database.prepare('select bytes from kept_answers where caller = ? and key = ?');
  const remove = database.prepare('delete from kept_answers where caller = ? and key = ?');
  const oldest = database.prepare('select key, bytes from kept_answers where caller = ? order by at limit 100');
  const prune = database.prepare('delete from kept_answers where at < ? returning caller, bytes');
  const count = database.prepare('select caller, sum(bytes) as bytes from kept_answers group by caller');
  let counted: Counts | undefined;

  /** Counted with the first write, and kept along. */
  const heldBy = (): Counts => {
    counted ??= new Counts(count.all().map((row) => [readText(row, 'caller'), readNumber(row, 'bytes')]));
    return counted;
  };

  /** `kept` is what must not go: it has just come. */
  function makeRoom(caller: string, maxBytes: number, kept: { readonly caller: string; readonly key: string }): void {
    for (;;) {
      if (heldBy().of(caller) <= maxBytes) return;
      const rows = oldest.all(caller).filter((row) => caller !== kept.caller || readText(row, 'key') !== kept.key);
      if (rows.length === 0) return;
      for (const row of rows) {
        remove.run(caller, readText(row, 'key'));
        heldBy().add(caller, -readNumber(row, 'bytes'));
        if (heldBy().of(caller) <= maxBytes) return;
      }
    }
  }

  function bound(row: { readonly caller: string; readonly key: string }): void {
    makeRoom(row.caller, bounds.perCaller, row);
    for (;;) {
      let inUse = 0;
      let largest: [string, number] = [row.caller, 0];
      for (const entry of heldBy()) {
        inUse += entry[1];
        if (entry[1] > largest[1]) largest = entry;
      }
      if (inUse <= bounds.inAll) return;
      makeRoom(largest[0], Math.max(0, largest[1] - (inUse - bounds.inAll)), row);
      if (heldBy().of(largest[0]) === largest[1]) return;
    }
  }

  return {
    /** At once. The oldest of the caller go where it has more than its share, then those of whoever has most. False when it is too long. */
    put({ caller, key, value, atMs }: KeptAnswerRow): boolean {
      const bytes = Buffer.byteLength(value);
      if (bytes > Math.min(bounds.each, bounds.perCaller)) return false;
      writeNow(() => {
        const before = bytesOf.get(caller, key);
        heldBy();
        put.run(caller, key, value, bytes, atMs);
        heldBy().add(caller, bytes - (before === undefined ? 0 : readNumber(before, 'bytes')));
        bound({ caller, key });
      });
      return true;
    },
    /** At once. False when there is one with this key. */
    claim: ({ caller, key, value, atMs }: KeptAnswerRow): boolean =>
      writeNow(() => {
        heldBy();
        const bytes = Buffer.byteLength(value);
        if (claim.run(caller, key, value, bytes, atMs).changes !== 1) return false;
        heldBy().add(caller, bytes);
        bound({ caller, key });
        return true;
      }),
    get: (caller: string, key: string) => get.first(caller, key),
    /** What is kept for a caller; costs next to nothing. */
    bytes: (caller: string): number => heldBy().of(caller),
    /** At once. False when there was none. */
    remove: (caller: string, key: string): boolean =>
      writeNow(() => {
        const before = bytesOf.get(caller, key);
        if (before === undefined) return false;
        heldBy();
        remove.run(caller, key);
        heldBy().add(caller, -readNumber(before, 'bytes'));
        return true;
      }),
    prune(beforeMs: number): void {
      for (const row of writeNow(() => prune.all(beforeMs))) {
        if (counted !== undefined) heldBy().add(readText(row, 'caller'), -readNumber(row, 'bytes'));
      }
    },
  };
}
