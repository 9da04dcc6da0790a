import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** What the engines of all Extism hosts know; naming more makes some of them, and V8, refuse the file. */
const features = [
  'bulk-memory',
  'bulk-memory-opt',
  'mutable-globals',
  'sign-ext',
  'nontrapping-float-to-int',
  'multivalue',
  'reference-types',
].map((name) => `--enable-${name}`);

/** Runs a tool of Binaryen. Throws when it fails; what it says goes to the terminal. */
export function runBinaryen(name: string, args: readonly string[]): void {
  const tool = join(createRequire(import.meta.url).resolve('binaryen'), '..', 'bin', name);
  execFileSync(process.execPath, [tool, ...features, ...args], { stdio: 'inherit' });
}
