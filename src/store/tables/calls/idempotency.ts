import type { DatabaseSync } from 'node:sqlite';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { readNumber, readText } from '../../column-values.ts';
import type { IdempotencyTable } from '../../execution-types.ts';
import { writeNow } from '../../sqlite-error.ts';

/** Creates the table of idempotency claims. Writes are at once: two calls with one key must not both win. */
export function createIdempotencyTable(database: DatabaseSync): IdempotencyTable {
  const claim = database.prepare(
    `insert into idempotency (caller, tool, key, arguments_hash, execution_id, at) values (?, ?, ?, ?, ?, ?)
     on conflict do nothing`,
  );
  const find = database.prepare('select arguments_hash, execution_id from idempotency where caller = ? and tool = ? and key = ?');
  const release = database.prepare('delete from idempotency where caller = ? and tool = ? and key = ?');
  const prune = database.prepare('delete from idempotency where at < ? returning caller');
  const count = database.prepare('select caller, count(*) as count from idempotency group by caller');

  return {
    claim({ caller, tool, key, argumentsHash, executionId, atMs }) {
      const { changes } = writeNow(() => claim.run(caller, tool, key, argumentsHash, executionId, atMs));
      if (changes === 1) return { claimed: true };
      const earlier = find.get(caller, tool, key);
      if (earlier === undefined) throw new HotcellError('internal', 'An idempotency key was neither free nor taken.');
      return {
        claimed: false,
        argumentsHash: readText(earlier, 'arguments_hash'),
        executionId: readText(earlier, 'execution_id'),
      };
    },
    release: (caller, tool, key) => writeNow(() => release.run(caller, tool, key)).changes === 1,
    prune: (beforeMs) => writeNow(() => prune.all(beforeMs)).map((row) => readText(row, 'caller')),
    countByCaller: () => new Map(count.all().map((row) => [readText(row, 'caller'), readNumber(row, 'count')])),
  };
}
