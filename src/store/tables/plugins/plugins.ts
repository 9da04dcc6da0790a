import type { DatabaseSync } from 'node:sqlite';
import { column, defineTable, type RowOf } from '../../table.ts';

const plugins = defineTable('plugins', {
  path: column.text('path'),
  name: column.text('name'),
  state: column.text('state'),
  enabled: column.flag('enabled'),
  currentGeneration: column.textOrNull('current_generation'),
  /** Content hash that a rollback pinned away from: the file's own content stays off until it changes. */
  pinnedAwayFrom: column.textOrNull('pinned_away_from'),
  diagnosticJson: column.textOrNull('diagnostic'),
  transitionsJson: column.text('transitions'),
});

/** What is remembered of a plugin file over restarts. */
export type PluginRow = RowOf<typeof plugins>;

export type PluginTable = ReturnType<typeof createPluginTable>;

/** Creates the table of plugin files; everything is written at once. */
export function createPluginTable(database: DatabaseSync) {
  const { list, put: upsert, remove } = plugins.prepareKeyed(database, ['path']);
  return { list, upsert, delete: remove };
}

const writtenFiles = defineTable('written_files', {
  /** The real path of the file. */
  path: column.text('path'),
  /** The hash of the content that was written: other content is of another hand. */
  sha256: column.text('sha256'),
  /** The caller id. */
  writtenBy: column.text('written_by'),
});

export type WrittenFileTable = ReturnType<typeof createWrittenFileTable>;

/** Creates the table of what of plugins was written last through a door by others than the operator; everything is written at once. */
export function createWrittenFileTable(database: DatabaseSync) {
  return writtenFiles.prepareKeyed(database, ['path']);
}
