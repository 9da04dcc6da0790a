import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { keepFile } from '../quickjs/cache-file.ts';

/** The runtimes that have a runner: a file of that name in `wasm/process`. */
export const guestRuntimes = ['deno', 'node'] as const;

/** A runtime that runs plugins in a process of its own. */
export type GuestRuntime = (typeof guestRuntimes)[number];

const wasmDir = new URL('../../../wasm/', import.meta.url);
const frames = new URL('frames.ts', import.meta.url);

/**
 * The path of the script with which a guest process starts: an ES module that speaks the guest protocol and gives plugins
 * the same context as every other engine. It is what the package build left, or bundled once for every state of the sources.
 */
export async function provideGuestRunner(dataDir: string, runtime: GuestRuntime): Promise<string> {
  const built = fileURLToPath(new URL(`../../guest/runner-${runtime}.js`, import.meta.url));
  if (existsSync(built)) return built;
  const file = join(dataDir, 'cache', `runner-${runtime}-${hashSources().slice(0, 32)}.js`);
  if (!existsSync(file)) keepFile(file, await bundleGuestRunner(runtime));
  return file;
}

/** Bundles `wasm/process/<runtime>.ts`; the built-ins of the runtime stay imports. */
export async function bundleGuestRunner(runtime: GuestRuntime): Promise<string> {
  const result = await build({
    entryPoints: [fileURLToPath(new URL(`process/${runtime}.ts`, wasmDir))],
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
  const hash = createHash('sha256').update(readFileSync(frames));
  for (const part of ['guest', 'process']) {
    const folder = fileURLToPath(new URL(part, wasmDir));
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (name.endsWith('.ts')) hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
    }
  }
  return hash.digest('hex');
}
