import type { DatabaseSync } from 'node:sqlite';
import { writeNow } from '../../sqlite-error.ts';
import { column, defineTable, type RowOf } from '../../table.ts';

const generations = defineTable('generations', {
  id: column.text('id'),
  pluginPath: column.text('plugin_path'),
  number: column.number('number'),
  author: column.text('author'),
  engine: column.text('engine'),
  contentHash: column.text('content_hash'),
  codeHash: column.text('code_hash'),
  imageHash: column.textOrNull('image_hash'),
  /** What the image was made with; an image with another fingerprint is built again. */
  imageFingerprint: column.textOrNull('image_fingerprint'),
  manifestJson: column.text('manifest'),
  inputsJson: column.text('inputs'),
  createdAtMs: column.number('created_at'),
  /** The caller id of an author who is not the operator, where it is known. */
  writtenBy: column.textOrNull('written_by'),
});

/** One generation; code, source map and image are files beside the database. */
export type GenerationRow = RowOf<typeof generations>;

export type GenerationTable = ReturnType<typeof createGenerationTable>;

/** Creates the table of generations; everything is written at once. */
export function createGenerationTable(database: DatabaseSync) {
  const upsert = generations.prepareInsert(
    database,
    `on conflict (id) do update set author = excluded.author, engine = excluded.engine,
       content_hash = excluded.content_hash, code_hash = excluded.code_hash, image_hash = excluded.image_hash,
       image_fingerprint = excluded.image_fingerprint, manifest = excluded.manifest, inputs = excluded.inputs`,
  );
  const ofPlugin = generations.prepareSelect(
    database,
    'where plugin_path = ?1 and (?2 is null or instr(inputs, ?2) > 0) order by number desc',
  );
  const byId = generations.prepareSelect(database, 'where id = ?');
  const current = generations.prepareSelect(
    database,
    'join plugins on generations.id = plugins.current_generation order by plugins.path',
  );
  const remove = database.prepare('delete from generations where id = ?');

  return {
    upsert: (row: GenerationRow): void => void writeNow(() => upsert(row)),
    /** Newest first; only those with an input of this hash when one is given. */
    listOf: (pluginPath: string, inputHash?: string) => ofPlugin.all(pluginPath, inputHash ?? null),
    get: (id: string) => byId.first(id),
    /** The current generation of every plugin in one query (see `currentGeneration` of plugins). */
    listCurrent: () => current.all(),
    delete: (id: string): void => void writeNow(() => remove.run(id)),
  };
}
