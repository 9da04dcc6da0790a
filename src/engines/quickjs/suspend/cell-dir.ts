import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '../../running-process.ts';

/** Makes the folder of this process for the memory of waiting calls, and removes those of processes that are gone. */
export function makeCellDir(dataDir: string): string {
  const parent = join(dataDir, 'cells');
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent)) {
    if (!isRunning(Number(name.split('-', 1)[0]))) rmSync(join(parent, name), { recursive: true, force: true });
  }
  return mkdtempSync(join(parent, `${process.pid}-`));
}
