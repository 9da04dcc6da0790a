import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf, readText } from '../../table.ts';

const repairs = defineTable('repairs', {
  id: column.text('id'),
  /** The identity of the plugin. */
  path: column.text('path'),
  plugin: column.text('plugin'),
  class: column.text('class'),
  failureKey: column.text('failure_key'),
  contentHash: column.text('content_hash'),
  state: column.text('state'),
  reason: column.text('reason'),
  author: column.textOrNull('author'),
  /** Id of the generation that it published, and the hash of its content. */
  generation: column.textOrNull('generation'),
  generationHash: column.textOrNull('generation_hash'),
  failureJson: column.text('failure'),
  attemptsJson: column.text('attempts'),
  proposalJson: column.textOrNull('proposal'),
  tokens: column.number('tokens'),
  cost: column.number('cost'),
  startedAtMs: column.number('started_at'),
  endedAtMs: column.numberOrNull('ended_at'),
});

/** One repair as it is kept; `failure`, `attempts` and `proposal` are JSON that src/repair writes and reads. */
export type RepairRow = RowOf<typeof repairs>;
export type RepairTable = ReturnType<typeof createRepairTable>;

interface Which {
  readonly path?: string;
  readonly states?: readonly string[];
  readonly limit: number;
}

/** Creates the table of repairs. Every write is committed when it returns. */
export function createRepairTable(database: DatabaseSync) {
  const upsert = repairs.prepareInsert(
    database,
    `on conflict (id) do update set state = excluded.state, reason = excluded.reason, author = excluded.author,
       generation = excluded.generation, generation_hash = excluded.generation_hash, attempts = excluded.attempts,
       proposal = excluded.proposal, tokens = excluded.tokens, cost = excluded.cost, ended_at = excluded.ended_at`,
  );
  const byId = repairs.prepareSelect(database, 'where id = ?');
  const newest = repairs.prepareSelect(
    database,
    `where (?1 is null or path = ?1) and (?2 is null or state in (select value from json_each(?2)))
     order by started_at desc, rowid desc limit ?3`,
  );
  const prune = database.prepare(
    `delete from repairs where id in (select id from repairs
       where state not in (select value from json_each(?)) order by started_at desc, rowid desc limit -1 offset ?)`,
  );
  const forget = database.prepare('delete from repairs where path = ?');
  const count = database.prepare(
    `select count(*) as found from repairs
     where state in (select value from json_each(?1)) and (?2 is null or failure_key = ?2)`,
  );
  const older = database.prepare('select id from repairs where state = ? and started_at < ? order by started_at limit ?');
  const sum = database.prepare(
    `select coalesce(sum(tokens), 0) as tokens, coalesce(sum(cost), 0.0) as cost from repairs
     where started_at > ?1 and (?2 is null or path = ?2)`,
  );
  const paths = database.prepare('select distinct path from repairs');

  return {
    upsert: (row: RepairRow): void => void writeNow(() => upsert(row)),
    get: (id: string) => byId.first(id),
    /** Newest first; of one plugin when a path is given. */
    list: ({ path, states, limit }: Which) =>
      newest.all(path ?? null, states === undefined ? null : JSON.stringify(states), limit),
    /** How many repairs are in one of these states, with this key of a failure when one is given. */
    count: (states: readonly string[], failureKey?: string) =>
      Number(count.get(JSON.stringify(states), failureKey ?? null)?.found),
    /** Ids of those in a state that began before then, oldest first. */
    listOlder: (state: string, beforeMs: number, limit: number): string[] =>
      older.all(state, beforeMs, limit).map((row) => readText(row, 'id')),
    /** Tokens and money of repairs that began since then; of one plugin when a path is given. */
    sumSince(sinceMs: number, path?: string) {
      const row = sum.get(sinceMs, path ?? null);
      return { tokens: Number(row?.tokens), cost: Number(row?.cost) };
    },
    /** The plugins that have any. */
    paths: (): string[] => paths.all().map((row) => readText(row, 'path')),
    /** Deletes the oldest beyond `keep` that are in none of these states. */
    prune: (keep: number, except: readonly string[]): void => void writeNow(() => prune.run(JSON.stringify(except), keep)),
    forget: (path: string): void => void writeNow(() => forget.run(path)),
  };
}
