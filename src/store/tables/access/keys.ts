import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf } from '../../table.ts';
import type { WriteQueue } from '../../write-queue.ts';

const keys = defineTable('keys', {
  id: column.text('id'),
  name: column.text('name'),
  role: column.word('role', ['admin', 'caller']),
  /** SHA-256 of the secret part, hex. */
  secretHash: column.text('secret_hash'),
  createdAtMs: column.number('created_at'),
  lastUsedAtMs: column.numberOrNull('last_used_at'),
  revokedAtMs: column.numberOrNull('revoked_at'),
  /** What the operator laid down for this key, a JSON object. */
  rulesJson: column.text('rules'),
  /** The caller id of who made it; null for a key of the time when that was not written down. */
  madeBy: column.textOrNull('made_by'),
  /** Which units owned the tools that its rules name when they were laid down, a JSON object; null where that is not known. */
  toolOwnersJson: column.textOrNull('tool_owners'),
});

/** An API key. */
export type KeyRow = RowOf<typeof keys>;

/** Creates the table of API keys. */
export function createKeyTable(database: DatabaseSync, queue: WriteQueue) {
  const insert = keys.prepareInsert(database);
  const setRules = database.prepare('update keys set rules = ?, tool_owners = ? where id = ? and revoked_at is null');
  const all = keys.prepareSelect(database, 'order by created_at, id');
  const revoke = database.prepare('update keys set revoked_at = ? where id = ? and revoked_at is null');
  const touch = database.prepare('update keys set last_used_at = ? where id = ?');

  return {
    insert: (row: KeyRow): void => void writeNow(() => insert(row)),
    list() {
      queue.flush();
      return all.all();
    },
    /** False when there is no such key, or it was revoked. */
    setRules: (id: string, rulesJson: string, toolOwnersJson: string | null): boolean =>
      writeNow(() => setRules.run(rulesJson, toolOwnersJson, id)).changes === 1,
    revoke: (id: string, atMs: number): boolean => writeNow(() => revoke.run(atMs, id)).changes === 1,
    /** Queued. */
    touch: (id: string, atMs: number): void => queue.add({ apply: () => touch.run(atMs, id) }),
  };
}
