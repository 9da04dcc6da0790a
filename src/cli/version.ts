import { readFileSync } from 'node:fs';

/** The version of the package that this file belongs to, from source as well as built. */
export function readVersion(): string {
  const { version }: { version?: unknown } = Object(
    JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')),
  );
  return String(version);
}
