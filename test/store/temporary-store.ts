import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore, type StoreOptions } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store-types.ts';
import { giveTables } from '../data-dir.ts';

/** A new folder that goes away with the test. */
export function temporaryDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'hotcell-store-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** The files of a data directory as a kill would leave them now, in a new folder. */
export function copyAsLeft(dataDir: string): string {
  const left = temporaryDir();
  cpSync(dataDir, left, { recursive: true });
  return left;
}

/** A store in a new folder, closed with the test. */
export function temporaryStore(options: Partial<StoreOptions> = {}): Store {
  const dataDir = join(temporaryDir(), 'data');
  giveTables(dataDir);
  const store = openStore({ dataDir, ...options });
  onTestFinished(() => store.close());
  return store;
}
