import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Puts into a data folder what every daemon makes at its first start, where a run of tests made it before (warm-cache.ts). */
export function giveWarmCache(dataDir: string): void {
  const warm = process.env.HOTCELL_WARM_CACHE;
  const cache = join(dataDir, 'cache');
  if (warm === undefined || existsSync(cache)) return;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  cpSync(warm, cache, { recursive: true });
}

/** Settings of a daemon that needs no more: starting threads is most of what starting a daemon costs. A second one comes when it is wanted. */
export const fewThreads = { workers: { min: 1, max: 1 } } as const;
