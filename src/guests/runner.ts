import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleGuest, cacheFile, keepFile } from './bundle.ts';

/** The runtimes that have a runner: a file of that name in `process`. */
export const guestRuntimes = ['deno', 'node'] as const;

/** A runtime that runs plugins in a process of its own. */
export type GuestRuntime = (typeof guestRuntimes)[number];

/**
 * The path of the script with which a guest process starts: an ES module that speaks the guest protocol and gives plugins
 * the same context as every other engine. It is what the package build left, or bundled once for every state of the sources.
 */
export async function provideGuestRunner(dataDir: string, runtime: GuestRuntime): Promise<string> {
  const built = fileURLToPath(new URL(`./runner-${runtime}.js`, import.meta.url));
  if (existsSync(built)) return built;
  const file = cacheFile(dataDir, `runner-${runtime}`, 'js', ['cell', 'process']);
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
export function bundleGuestRunner(runtime: GuestRuntime): Promise<string> {
  const entry = fileURLToPath(new URL(`./process/${runtime}.ts`, import.meta.url));
  return bundleGuest({ entryPoints: [entry], format: 'esm', external: ['node:*'], minify: true });
}
