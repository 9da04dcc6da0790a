import type { DatabaseSync } from 'node:sqlite';
import { HotcellError } from '../errors/hotcell-error.ts';
import { firstSteps } from './migrations/first-steps.ts';
import { laterSteps } from './migrations/later-steps.ts';

/**
 * The schema, one step a version; a step that was released never changes. Times are epoch ms. Large columns stand last
 * in `executions`, so that scans over the small ones do not read them; its rows lie in the order of their ids, which is that
 * of time, so that a commit writes one tree less.
 */
const migrations: readonly string[] = [...firstSteps, ...laterSteps];

/** Brings the database to the newest version, each step in one transaction. Refuses one that a newer Hotcell wrote. */
export function migrate(database: DatabaseSync): void {
  const version = Number(database.prepare('pragma user_version').get()?.user_version);
  if (version > migrations.length) {
    throw new HotcellError(
      'conflict',
      `The database has schema ${version}, which a newer Hotcell wrote; this one knows schemas up to ${migrations.length}.`,
      { fix: 'Start the newer Hotcell, or choose another data directory: --data DIR.' },
    );
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`begin immediate; ${sql}; pragma user_version = ${index + 1}; commit;`);
  }
}
