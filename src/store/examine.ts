import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { databasePath } from './data-dir.ts';
import { findStorageError } from './sqlite-error.ts';
import { readText } from './table.ts';

/** What SQLite finds wrong with a database; undefined when it is sound. One table a turn, so that calls go on in between. */
export async function examineDatabase(database: DatabaseSync): Promise<string | undefined> {
  try {
    const tables = database.prepare(`select name from sqlite_schema where type = 'table' order by name`).all();
    const check = database.prepare('select quick_check as found from pragma_quick_check(?)');
    for (const table of tables) {
      const found = readText(check.get(readText(table, 'name')) ?? {}, 'found');
      if (found !== 'ok') return found;
      await nextTurn();
    }
    return undefined;
  } catch (error) {
    const trouble = findStorageError(error);
    if (trouble === undefined) throw error;
    return trouble.message;
  }
}

/** What SQLite finds wrong with the database of a data directory that no daemon uses; undefined also when there is none yet. */
export async function examineDataDir(dataDir: string): Promise<string | undefined> {
  const file = databasePath(dataDir);
  if (!existsSync(file)) return undefined;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 500 });
  try {
    return await examineDatabase(database);
  } finally {
    database.close();
  }
}
