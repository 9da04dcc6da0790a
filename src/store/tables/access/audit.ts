import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText, type SqlRow } from '../../column-values.ts';
import type { AuditRow, AuditTable } from '../../permission-types.ts';
import type { WriteQueue } from '../../write-queue.ts';

const filters = `(?1 is null or plugin = ?1) and (?2 is null or caller = ?2) and (?3 is null or tool = ?3)
  and (?4 is null or execution_id = ?4) and (?5 is null or allowed = ?5)`;

/** Creates the table of permission uses and of decisions about them. */
export function createAuditTable(database: DatabaseSync, queue: WriteQueue): AuditTable {
  const insert = database.prepare(
    `insert into audit (at, execution_id, caller, plugin, tool, permission, detail, allowed) values (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const list = database.prepare(`select * from audit where ${filters} and (?6 is null or id < ?6) order by id desc limit ?7`);
  const count = database.prepare(`select count(*) as total from audit where ${filters}`);
  const prune = database.prepare('delete from audit where id <= (select max(id) from audit) - ?');

  return {
    insert(row) {
      const { atMs, executionId, caller, plugin, tool, permission, detail, allowed } = row;
      const values = [atMs, executionId, caller, plugin, tool, permission, detail, allowed ? 1 : 0] as const;
      queue.add({ apply: () => insert.run(...values) });
    },
    list({ before, limit, ...query }) {
      queue.flush();
      return list.all(...bind(query), before ?? null, limit).map(readRow);
    },
    count(query) {
      queue.flush();
      return readNumber(count.get(...bind(query)) ?? {}, 'total');
    },
    prune: (keep) => queue.add({ apply: () => prune.run(keep) }),
  };
}

type Query = Parameters<AuditTable['count']>[0];

function bind({ plugin, caller, tool, executionId, allowed }: Query) {
  return [
    plugin ?? null,
    caller ?? null,
    tool ?? null,
    executionId ?? null,
    allowed === undefined ? null : allowed ? 1 : 0,
  ] as const;
}

function readRow(row: SqlRow): AuditRow & { readonly id: number } {
  return {
    id: readNumber(row, 'id'),
    atMs: readNumber(row, 'at'),
    executionId: readText(row, 'execution_id'),
    caller: readText(row, 'caller'),
    plugin: readText(row, 'plugin'),
    tool: readText(row, 'tool'),
    permission: readText(row, 'permission'),
    detail: readText(row, 'detail'),
    allowed: readNumber(row, 'allowed') === 1,
  };
}
