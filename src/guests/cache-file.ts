import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a cache file atomically. Never throws: a cache that cannot be written costs time at the next start, nothing else. */
export function keepFile(file: string, content: string | Uint8Array): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const temporary = `${file}.${process.pid}`;
    writeFileSync(temporary, content, { mode: 0o600 });
    renameSync(temporary, file);
  } catch {
    return;
  }
}
