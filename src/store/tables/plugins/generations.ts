import type { DatabaseSync } from 'node:sqlite';
import { readNumber, readText, readTextOrNull, type SqlRow } from '../../column-values.ts';
import { writeNow } from '../../sqlite-error.ts';
import type { GenerationRow, GenerationTable } from '../../store-types.ts';

/** Creates the table of generations. */
export function createGenerationTable(database: DatabaseSync): GenerationTable {
  const upsert = database.prepare(
    `insert into generations (id, plugin_path, number, author, engine, content_hash, code_hash, image_hash,
       image_fingerprint, manifest, inputs, created_at, written_by)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (id) do update set author = excluded.author, engine = excluded.engine,
       content_hash = excluded.content_hash, code_hash = excluded.code_hash, image_hash = excluded.image_hash,
       image_fingerprint = excluded.image_fingerprint, manifest = excluded.manifest, inputs = excluded.inputs`,
  );
  const listOf = database.prepare(
    'select * from generations where plugin_path = ?1 and (?2 is null or instr(inputs, ?2) > 0) order by number desc',
  );
  const get = database.prepare('select * from generations where id = ?');
  const listCurrent = database.prepare(
    `select generations.* from plugins join generations on generations.id = plugins.current_generation
     order by plugins.path`,
  );
  const remove = database.prepare('delete from generations where id = ?');

  return {
    upsert(row) {
      writeNow(() =>
        upsert.run(
          row.id,
          row.pluginPath,
          row.number,
          row.author,
          row.engine,
          row.contentHash,
          row.codeHash,
          row.imageHash,
          row.imageFingerprint,
          row.manifestJson,
          row.inputsJson,
          row.createdAtMs,
          row.writtenBy,
        ),
      );
    },
    listOf: (pluginPath, inputHash) => listOf.all(pluginPath, inputHash ?? null).map(readGeneration),
    get(id) {
      const row = get.get(id);
      return row === undefined ? undefined : readGeneration(row);
    },
    listCurrent: () => listCurrent.all().map(readGeneration),
    delete(id) {
      writeNow(() => remove.run(id));
    },
  };
}

function readGeneration(row: SqlRow): GenerationRow {
  return {
    id: readText(row, 'id'),
    pluginPath: readText(row, 'plugin_path'),
    number: readNumber(row, 'number'),
    author: readText(row, 'author'),
    engine: readText(row, 'engine'),
    contentHash: readText(row, 'content_hash'),
    codeHash: readText(row, 'code_hash'),
    imageHash: readTextOrNull(row, 'image_hash'),
    imageFingerprint: readTextOrNull(row, 'image_fingerprint'),
    manifestJson: readText(row, 'manifest'),
    inputsJson: readText(row, 'inputs'),
    createdAtMs: readNumber(row, 'created_at'),
    writtenBy: readTextOrNull(row, 'written_by'),
  };
}
