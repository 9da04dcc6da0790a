import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readNumberOrNull, readText, readTextOrNull, type SqlRow } from '../../column-values.ts';
import type { RepairRow, RepairTable } from '../../repair-types.ts';
import { writeNow } from '../../sqlite-error.ts';

/** Creates the table of repairs. */
export function createRepairTable(database: DatabaseSync): RepairTable {
  const upsert = database.prepare(
    `insert into repairs (id, path, plugin, class, failure_key, content_hash, state, reason, author, generation,
       generation_hash, failure, attempts, proposal, tokens, cost, started_at, ended_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (id) do update set state = excluded.state, reason = excluded.reason, author = excluded.author,
       generation = excluded.generation, generation_hash = excluded.generation_hash, attempts = excluded.attempts,
       proposal = excluded.proposal, tokens = excluded.tokens, cost = excluded.cost, ended_at = excluded.ended_at`,
  );
  const get = database.prepare('select * from repairs where id = ?');
  const list = database.prepare(
    `select * from repairs where (?1 is null or path = ?1)
       and (?2 is null or state in (select value from json_each(?2)))
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
    upsert: (row) =>
      void writeNow(() =>
        upsert.run(
          row.id,
          row.path,
          row.plugin,
          row.class,
          row.failureKey,
          row.contentHash,
          row.state,
          row.reason,
          row.author,
          row.generation,
          row.generationHash,
          row.failureJson,
          row.attemptsJson,
          row.proposalJson,
          row.tokens,
          row.cost,
          row.startedAtMs,
          row.endedAtMs,
        ),
      ),
    get(id) {
      const row = get.get(id);
      return row === undefined ? undefined : readRepair(row);
    },
    list: ({ path, states, limit }) =>
      list.all(path ?? null, states === undefined ? null : JSON.stringify(states), limit).map(readRepair),
    count: (states, failureKey) => Number(count.get(JSON.stringify(states), failureKey ?? null)?.found),
    listOlder: (state, beforeMs, limit) => older.all(state, beforeMs, limit).map((row) => readText(row, 'id')),
    sumSince(sinceMs, path) {
      const row = sum.get(sinceMs, path ?? null);
      return { tokens: Number(row?.tokens), cost: Number(row?.cost) };
    },
    paths: () => paths.all().map((row) => readText(row, 'path')),
    prune: (keep, except) => void writeNow(() => prune.run(JSON.stringify(except), keep)),
    forget: (path) => void writeNow(() => forget.run(path)),
  };
}

function readRepair(row: SqlRow): RepairRow {
  return {
    id: readText(row, 'id'),
    path: readText(row, 'path'),
    plugin: readText(row, 'plugin'),
    class: readText(row, 'class'),
    failureKey: readText(row, 'failure_key'),
    contentHash: readText(row, 'content_hash'),
    state: readText(row, 'state'),
    reason: readText(row, 'reason'),
    author: readTextOrNull(row, 'author'),
    generation: readTextOrNull(row, 'generation'),
    generationHash: readTextOrNull(row, 'generation_hash'),
    failureJson: readText(row, 'failure'),
    attemptsJson: readText(row, 'attempts'),
    proposalJson: readTextOrNull(row, 'proposal'),
    tokens: readNumber(row, 'tokens'),
    cost: readNumber(row, 'cost'),
    startedAtMs: readNumber(row, 'started_at'),
    endedAtMs: readNumberOrNull(row, 'ended_at'),
  };
}
