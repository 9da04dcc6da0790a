import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The guest side of the border as one script, and the parts that guests ask for on first use. */
export interface Prelude {
  readonly code: string;
  readonly lazyModules: Readonly<Record<string, string>>;
  /** SHA-256 over all of it, hex. */
  readonly hash: string;
}

const guestDir = new URL('../../../wasm/guest/', import.meta.url);
const builtFile = new URL('../../guest/prelude.json', import.meta.url);

/** Reads the prelude that the package build left, or bundles it from source. */
export async function loadPrelude(): Promise<Prelude> {
  if (existsSync(builtFile)) return JSON.parse(readFileSync(builtFile, 'utf8')) as Prelude;
  return bundlePrelude();
}

/** Bundles `wasm/guest` with esbuild: `main.ts` eagerly, each file of `web/lazy` on its own. */
export async function bundlePrelude(): Promise<Prelude> {
  const code = await bundleGuest(fileURLToPath(new URL('main.ts', guestDir)));
  const lazyModules: Record<string, string> = {};
  const { lazyModuleFiles } = (await import(new URL('web/lazy-modules.ts', guestDir).href)) as {
    lazyModuleFiles: Readonly<Record<string, string>>;
  };
  for (const [name, file] of Object.entries(lazyModuleFiles)) {
    lazyModules[name] = await bundleGuest(fileURLToPath(new URL(`web/${file}`, guestDir)));
  }
  const hash = createHash('sha256')
    .update(JSON.stringify([code, lazyModules]))
    .digest('hex');
  return { code, lazyModules, hash };
}

async function bundleGuest(entry: string): Promise<string> {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    target: 'es2023',
    minify: true,
    tsconfigRaw: '{}',
    logLevel: 'silent',
  });
  return result.outputFiles[0]?.text ?? '';
}
