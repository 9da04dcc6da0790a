import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readNumberOrNull, readText, readTextOrNull, readWord, type SqlRow } from '../../column-values.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { KeyRow, KeyTable } from '../../store-types.ts';
import type { WriteQueue } from '../../write-queue.ts';

const roles = ['admin', 'caller'] as const;
const touchEveryMs = 60_000;

/** Creates the table of API keys. */
export function createKeyTable(database: DatabaseSync, queue: WriteQueue): KeyTable {
  const insert = database.prepare(
    `insert into keys (id, name, role, secret_hash, created_at, last_used_at, revoked_at, rules, made_by, tool_owners)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const setRules = database.prepare('update keys set rules = ?, tool_owners = ? where id = ? and revoked_at is null');
  const findByHash = database.prepare('select * from keys where secret_hash = ?');
  const list = database.prepare('select * from keys order by created_at, id');
  const revoke = database.prepare('update keys set revoked_at = ? where id = ? and revoked_at is null');
  const touch = database.prepare('update keys set last_used_at = ? where id = ?');
  const touchedAtMsById = new Map<string, number>();

  return {
    insert(row) {
      const { id, name, role, secretHash, createdAtMs, lastUsedAtMs, revokedAtMs, rulesJson, madeBy, toolOwnersJson } = row;
      writeNow(() =>
        insert.run(id, name, role, secretHash, createdAtMs, lastUsedAtMs, revokedAtMs, rulesJson, madeBy, toolOwnersJson),
      );
    },
    findByHash(secretHash) {
      const row = findByHash.get(secretHash);
      return row === undefined ? undefined : readKey(row);
    },
    list() {
      queue.flush();
      return list.all().map(readKey);
    },
    setRules: (id, rulesJson, toolOwnersJson) => writeNow(() => setRules.run(rulesJson, toolOwnersJson, id)).changes === 1,
    revoke: (id, atMs) => writeNow(() => revoke.run(atMs, id)).changes === 1,
    // Every request touches its key: kept to the minute, so that a busy key costs no writes.
    touch(id, atMs) {
      const touchedAtMs = touchedAtMsById.get(id);
      if (touchedAtMs !== undefined && Math.abs(atMs - touchedAtMs) < touchEveryMs) return;
      touchedAtMsById.set(id, atMs);
      queue.add({ apply: () => touch.run(atMs, id) });
    },
  };
}

function readKey(row: SqlRow): KeyRow {
  return {
    id: readText(row, 'id'),
    name: readText(row, 'name'),
    role: readWord(row, 'role', roles),
    secretHash: readText(row, 'secret_hash'),
    createdAtMs: readNumber(row, 'created_at'),
    lastUsedAtMs: readNumberOrNull(row, 'last_used_at'),
    revokedAtMs: readNumberOrNull(row, 'revoked_at'),
    rulesJson: readText(row, 'rules'),
    madeBy: readTextOrNull(row, 'made_by'),
    toolOwnersJson: readTextOrNull(row, 'tool_owners'),
  };
}
