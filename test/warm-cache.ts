import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBase } from '../src/engines/quickjs/base-store.ts';
import { compileQuickJs } from '../src/engines/quickjs/cell/instance.ts';
import { loadPrelude } from '../src/guests/prelude.ts';
import { guestRuntimes, provideGuestRunner } from '../src/guests/runner.ts';
import { openStore } from '../src/store/open.ts';

/**
 * Before the first test file: makes once what every daemon makes at its first start over a data folder, the bundles of what
 * runs in guests, the base image and the tables of the database; `giveWarmCache` hands it out.
 */
export default async function makeWarmCache(): Promise<() => void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-warm-'));
  await loadBase(dataDir, compileQuickJs(), await loadPrelude(dataDir));
  for (const runtime of guestRuntimes) await provideGuestRunner(dataDir, runtime);
  openStore({ dataDir }).close();
  process.env.HOTCELL_WARM_DATA = dataDir;
  return () => rmSync(dataDir, { recursive: true, force: true });
}
