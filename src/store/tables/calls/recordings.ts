import type { DatabaseSync } from 'node:sqlite';
import { readBytes } from '../../table.ts';
import type { QueuedWrite, WriteQueue } from '../../write-queue.ts';

interface RecordingRow {
  readonly executionId: string;
  readonly tool: string;
  readonly status: string;
  /** Opaque. */
  readonly blob: Uint8Array;
  readonly createdAtMs: number;
}

/** Creates the table of recordings. */
export function createRecordingTable(database: DatabaseSync, queue: WriteQueue) {
  const insert = database.prepare(
    // Not of a record that went in the meantime: nobody would ever remove it.
    `insert or replace into recordings (execution_id, tool, status, created_at, blob)
     select ?1, ?2, ?3, ?4, ?5 where exists (select 1 from executions where id = ?1)`,
  );
  const get = database.prepare('select blob from recordings where execution_id = ?');
  const prune = database.prepare(
    `delete from recordings where status = 'success' and tool = ?1 and execution_id <= (
       select execution_id from recordings where status = 'success' and tool = ?1
       order by execution_id desc limit 1 offset ?2)`,
  );
  const lastPruneByTool = new Map<string, QueuedWrite>();

  return {
    /** Queued. */
    insert({ executionId, tool, status, createdAtMs, blob }: RecordingRow): void {
      queue.add({ apply: () => insert.run(executionId, tool, status, createdAtMs, blob) });
    },
    get(executionId: string): Uint8Array | undefined {
      queue.flush();
      const row = get.get(executionId);
      return row && readBytes(row, 'blob');
    },
    /** Queued. Of the successful recordings of a tool only the newest `keep` stay. */
    // Asked for after every success: of those that wait for one transaction the last, which sees all inserts, is enough.
    pruneSuccessful(tool: string, keep: number): void {
      const queued: QueuedWrite = {
        apply() {
          if (lastPruneByTool.get(tool) === queued) prune.run(tool, keep);
        },
        settle() {
          if (lastPruneByTool.get(tool) === queued) lastPruneByTool.delete(tool);
        },
      };
      lastPruneByTool.set(tool, queued);
      queue.add(queued);
    },
  };
}
