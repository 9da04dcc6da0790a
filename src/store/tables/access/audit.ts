import type { DatabaseSync } from 'node:sqlite';
import { column, defineTable, type RowOf, readNumber } from '../../table.ts';
import type { WriteQueue } from '../../write-queue.ts';

const columns = {
  atMs: column.number('at'),
  executionId: column.text('execution_id'),
  caller: column.text('caller'),
  plugin: column.text('plugin'),
  tool: column.text('tool'),
  permission: column.text('permission'),
  detail: column.text('detail'),
  allowed: column.flag('allowed'),
};
const audit = defineTable('audit', columns);
const numberedAudit = defineTable('audit', { id: column.number('id'), ...columns });

/** A use or a refusal of a permission, or a decision about one; what does not apply is empty. */
export type AuditRow = RowOf<typeof audit>;

type Which = Partial<Pick<AuditRow, 'plugin' | 'caller' | 'tool' | 'executionId' | 'allowed'>>;

const filters = `(?1 is null or plugin = ?1) and (?2 is null or caller = ?2) and (?3 is null or tool = ?3)
  and (?4 is null or execution_id = ?4) and (?5 is null or allowed = ?5)`;

/** Creates the table of permission uses and of decisions about them. */
export function createAuditTable(database: DatabaseSync, queue: WriteQueue) {
  const insert = audit.prepareInsert(database);
  const newest = numberedAudit.prepareSelect(database, `where ${filters} and (?6 is null or id < ?6) order by id desc limit ?7`);
  const count = database.prepare(`select count(*) as total from audit where ${filters}`);
  // Decisions were made in no execution.
  const pruneUses = database.prepare(`delete from audit where id <= (select max(id) from audit) - ? and execution_id <> ''`);
  const pruneDecisions = database.prepare(
    `delete from audit where execution_id = '' and id <= (select id from audit where execution_id = '' order by id desc limit 1 offset ?)`,
  );

  return {
    /** Queued. */
    insert: (row: AuditRow): void => queue.add({ apply: () => insert(row) }),
    /** Newest first; `before` is an id. */
    list({ before, limit, ...which }: Which & { readonly before?: number; readonly limit: number }) {
      queue.flush();
      return newest.all(...bind(which), before ?? null, limit);
    },
    count(which: Which): number {
      queue.flush();
      return readNumber(count.get(...bind(which)) ?? {}, 'total');
    },
    /** Queued. Keeps uses among the newest `keep` rows, and as many decisions apart: no calls take away what was decided. */
    prune: (keep: number): void =>
      queue.add({
        apply() {
          pruneUses.run(keep);
          pruneDecisions.run(keep);
        },
      }),
  };
}

function bind({ plugin, caller, tool, executionId, allowed }: Which) {
  const isAllowed = allowed === undefined ? null : Number(allowed);
  return [plugin ?? null, caller ?? null, tool ?? null, executionId ?? null, isAllowed] as const;
}
