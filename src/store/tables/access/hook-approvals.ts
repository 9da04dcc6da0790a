import type { DatabaseSync } from 'node:sqlite';
import { column, defineTable, type RowOf } from '../../table.ts';

const hookApprovals = defineTable('hook_approvals', {
  /** The real path of the hook's folder. */
  path: column.text('path'),
  contentHash: column.text('content_hash'),
  approvedBy: column.text('approved_by'),
  approvedAtMs: column.number('approved_at'),
  guardedToolsJson: column.textOrNull('guarded_tools'),
});

/** The files of a hook that an operator approved, by their hash; see src/hooks. */
export interface HookApprovalRow extends Omit<RowOf<typeof hookApprovals>, 'guardedToolsJson'> {
  /** Globs of the tools before whose calls the approved files are asked, none for all tools; absent when they never are. */
  readonly guardedTools?: readonly string[];
}

/** Creates the table of the hooks that an operator approved, one row a folder; everything is written at once. */
export function createHookApprovalTable(database: DatabaseSync) {
  const { list, put, remove } = hookApprovals.prepareKeyed(database, ['path']);
  return {
    list: (): HookApprovalRow[] =>
      list().map(({ guardedToolsJson, ...row }) => ({ ...row, ...readGuardedTools(guardedToolsJson) })),
    put({ guardedTools, ...row }: HookApprovalRow): void {
      put({ ...row, guardedToolsJson: guardedTools === undefined ? null : JSON.stringify(guardedTools) });
    },
    /** False when there was none. */
    remove: (path: string): boolean => remove(path),
  };
}

function readGuardedTools(text: string | null): { guardedTools?: readonly string[] } {
  if (text === null) return {};
  const globs: unknown = JSON.parse(text);
  // Damaged, it guards every tool: nothing passes because a row was changed.
  return { guardedTools: Array.isArray(globs) && globs.every((glob) => typeof glob === 'string') ? globs : [] };
}
