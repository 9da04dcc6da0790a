import { createHash, hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { keepFile } from './cache-file.ts';

/** The runtimes that have a runner: a file of that name in `process`. */
export const guestRuntimes = ['deno', 'node'] as const;

/** A runtime that runs plugins in a process of its own. */
export type GuestRuntime = (typeof guestRuntimes)[number];

const guestsDir = new URL('./', import.meta.url);

/**
 * The path of the script with which a guest process starts: an ES module that speaks the guest protocol and gives plugins
 * the same context as every other engine. It is what the package build left, or bundled once for every state of the sources.
 */
export async function provideGuestRunner(dataDir: string, runtime: GuestRuntime): Promise<string> {
  const built = fileURLToPath(new URL(`./runner-${runtime}.js`, import.meta.url));
  if (existsSync(built)) return built;
  const file = join(dataDir, 'cache', `runner-${runtime}-${hashSources().slice(0, 32)}.js`);
  if (!isWhole(file)) {
    const text = await bundleGuestRunner(runtime);
    keepFile(file, `${text}\n//${hash('sha256', text, 'hex')}`);
  }
  return file;
}

/** Tells whether a kept runner ends with the hash of all before it: a crash or a full disk may have left a part of one. */
function isWhole(file: string): boolean {
  try {
    const kept = readFileSync(file, 'utf8');
    const end = kept.lastIndexOf('\n//');
    return end > 0 && kept.slice(end + 3) === hash('sha256', kept.slice(0, end), 'hex');
  } catch {
    return false;
  }
}

/** Bundles `process/<runtime>.ts`; the built-ins of the runtime stay imports. */
export async function bundleGuestRunner(runtime: GuestRuntime): Promise<string> {
  const result = await build({
    entryPoints: [fileURLToPath(new URL(`process/${runtime}.ts`, guestsDir))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    external: ['node:*'],
    target: 'es2023',
    minify: true,
    tsconfigRaw: '{}',
    logLevel: 'silent',
  });
  return result.outputFiles[0]?.text ?? '';
}

function hashSources(): string {
  const sources = createHash('sha256');
  for (const part of ['cell', 'process']) {
    const folder = fileURLToPath(new URL(part, guestsDir));
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (name.endsWith('.ts')) sources.update(`${name}\n`).update(readFileSync(join(folder, name)));
    }
  }
  return sources.digest('hex');
}
