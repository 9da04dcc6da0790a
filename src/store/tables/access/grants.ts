import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readNumberOrNull, readText, readTextOrNull, readWord, type SqlRow } from '../../column-values.ts';
import type { GrantRow, GrantTable } from '../../permission-types.ts';
import { writeNow } from '../../sqlite-error.ts';

const scopes = ['once', 'session', 'until', 'always'] as const;

/** Creates the table of grants. */
export function createGrantTable(database: DatabaseSync): GrantTable {
  const insert = database.prepare(
    `insert into grants (id, plugin_path, plugin_name, content_hash, permissions, scope, caller, session, until_at, granted_by,
       created_at, used_by, revoked_at, tool_owners) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const revoke = database.prepare('update grants set revoked_at = ? where id = ? and revoked_at is null');
  const spend = database.prepare('update grants set used_by = ? where id = ? and used_by is null');
  const listInForce = database.prepare('select * from grants where revoked_at is null order by rowid');
  const list = database.prepare('select * from grants order by rowid desc limit ?');

  const insertRow = (row: GrantRow): void =>
    void insert.run(
      row.id,
      row.unitPath,
      row.pluginName,
      row.contentHash,
      row.permissionsJson,
      row.scope,
      row.caller,
      row.session,
      row.untilMs,
      row.grantedBy,
      row.createdAtMs,
      row.usedBy,
      row.revokedAtMs,
      row.toolOwnersJson,
    );

  return {
    insert: (row) => writeNow(() => insertRow(row)),
    replace: (id, revokedAtMs, rows) =>
      writeNow(() => {
        database.exec('savepoint replace_grant');
        try {
          revoke.run(revokedAtMs, id);
          for (const row of rows) insertRow(row);
          database.exec('release replace_grant');
        } catch (error) {
          database.exec('rollback to replace_grant; release replace_grant');
          throw error;
        }
      }),
    spend: (id, executionId) => void writeNow(() => spend.run(executionId, id)),
    listInForce: () => listInForce.all().map(readGrant),
    list: (limit) => list.all(limit).map(readGrant),
  };
}

function readGrant(row: SqlRow): GrantRow {
  return {
    id: readText(row, 'id'),
    unitPath: readText(row, 'plugin_path'),
    pluginName: readText(row, 'plugin_name'),
    contentHash: readText(row, 'content_hash'),
    permissionsJson: readText(row, 'permissions'),
    scope: readWord(row, 'scope', scopes),
    caller: readTextOrNull(row, 'caller'),
    session: readTextOrNull(row, 'session'),
    untilMs: readNumberOrNull(row, 'until_at'),
    grantedBy: readText(row, 'granted_by'),
    createdAtMs: readNumber(row, 'created_at'),
    usedBy: readTextOrNull(row, 'used_by'),
    revokedAtMs: readNumberOrNull(row, 'revoked_at'),
    toolOwnersJson: readTextOrNull(row, 'tool_owners'),
  };
}
