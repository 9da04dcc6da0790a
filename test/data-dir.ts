import { copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { databasePath } from '../src/store/data-dir.ts';

/** Puts into a data folder what every daemon makes at its first start, where a run of tests made it before (warm-cache.ts). */
export function giveWarmCache(dataDir: string): void {
  const warm = process.env.HOTCELL_WARM_DATA;
  const cache = join(dataDir, 'cache');
  if (warm === undefined || existsSync(cache)) return;
  giveTables(dataDir);
  cpSync(join(warm, 'cache'), cache, { recursive: true });
}

/** Puts a database with its empty tables into a data folder that has none: making them takes longer than most tests. */
export function giveTables(dataDir: string): void {
  const warm = process.env.HOTCELL_WARM_DATA;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (warm !== undefined && !existsSync(databasePath(dataDir))) copyFileSync(databasePath(warm), databasePath(dataDir));
}

/** Settings of a daemon that needs no more: starting threads is most of what starting a daemon costs. A second one comes when it is wanted. */
export const fewThreads = { workers: { min: 1, max: 1 } } as const;
