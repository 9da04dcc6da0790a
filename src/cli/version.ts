import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import Value from 'typebox/value';

const packageFile = Type.Object({ version: Type.String() });

/** The version of the package that this file belongs to, from source as well as built. */
export function readVersion(): string {
  const content: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return Value.Parse(packageFile, content).version;
}
