import type { DatabaseSync } from 'node:sqlite';
import { HotcellError } from '../../../errors/hotcell-error.ts';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf, readNumber, readText } from '../../table.ts';

const claims = defineTable('idempotency', {
  caller: column.text('caller'),
  tool: column.text('tool'),
  key: column.text('key'),
  argumentsHash: column.text('arguments_hash'),
  executionId: column.text('execution_id'),
  atMs: column.number('at'),
});

type Claim = RowOf<typeof claims>;

export type IdempotencyTable = ReturnType<typeof createIdempotencyTable>;

/** Creates the table of idempotency claims. Writes are at once: two calls with one key must not both win. */
export function createIdempotencyTable(database: DatabaseSync) {
  const insert = claims.prepareInsert(database, 'on conflict do nothing');
  const ofKey = 'where caller = ? and tool = ? and key = ?';
  const find = claims.prepareSelect(database, ofKey);
  const release = database.prepare(`delete from idempotency ${ofKey}`);
  const prune = database.prepare('delete from idempotency where at < ? returning caller');
  const count = database.prepare('select caller, count(*) as count from idempotency group by caller');

  return {
    /** Claims a key for an execution, or returns the earlier claim. Keys belong to caller and tool. */
    claim(
      claim: Claim,
    ): { readonly claimed: true } | ({ readonly claimed: false } & Pick<Claim, 'argumentsHash' | 'executionId'>) {
      if (writeNow(() => insert(claim)) === 1) return { claimed: true };
      const earlier = find.first(claim.caller, claim.tool, claim.key);
      if (earlier === undefined) throw new HotcellError('internal', 'An idempotency key was neither free nor taken.');
      const { argumentsHash, executionId } = earlier;
      return { claimed: false, argumentsHash, executionId };
    },
    /** False when there was none. */
    release: (caller: string, tool: string, key: string): boolean => writeNow(() => release.run(caller, tool, key)).changes === 1,
    /** Forgets claims older than `beforeMs`; the caller of each. */
    prune: (beforeMs: number): string[] => writeNow(() => prune.all(beforeMs)).map((row) => readText(row, 'caller')),
    countByCaller: (): ReadonlyMap<string, number> =>
      new Map(count.all().map((row) => [readText(row, 'caller'), readNumber(row, 'count')])),
  };
}
