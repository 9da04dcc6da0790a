import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPrelude } from '../src/guests/prelude.ts';
import { guestRuntimes, provideGuestRunner } from '../src/guests/runner.ts';

/**
 * Before the first test file: bundles once what every daemon bundles at its first start over a data folder; `giveWarmCache`
 * hands it out. The base image is not among it: tests rely on the one that their own process makes.
 */
export default async function makeWarmCache(): Promise<() => void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hotcell-warm-'));
  await loadPrelude(dataDir);
  for (const runtime of guestRuntimes) await provideGuestRunner(dataDir, runtime);
  process.env.HOTCELL_WARM_CACHE = join(dataDir, 'cache');
  return () => rmSync(dataDir, { recursive: true, force: true });
}
