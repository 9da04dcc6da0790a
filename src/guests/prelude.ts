import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { keepFile } from './cache-file.ts';

/** The guest side of the border as one script, and the parts that guests ask for on first use. */
export interface Prelude {
  readonly code: string;
  readonly lazyModules: Readonly<Record<string, string>>;
  /** SHA-256 over all of it, hex. */
  readonly hash: string;
}

const guestDir = new URL('./cell/', import.meta.url);
const builtFile = new URL('./prelude.json', import.meta.url);

/** Reads the prelude that the package build left, or bundles it from source, once for every state of the sources. */
export async function loadPrelude(dataDir: string): Promise<Prelude> {
  const built = readPrelude(fileURLToPath(builtFile));
  if (built) return built;
  const file = join(dataDir, 'cache', `prelude-${hashSources().slice(0, 32)}.json`);
  const kept = readPrelude(file);
  if (kept) return kept;
  const prelude = await bundlePrelude();
  keepFile(file, JSON.stringify(prelude));
  return prelude;
}

function readPrelude(file: string): Prelude | undefined {
  try {
    const prelude = JSON.parse(readFileSync(file, 'utf8')) as Prelude;
    // A file that a crash or a full disk cut short is made again.
    return prelude.hash === hashPrelude(prelude) ? prelude : undefined;
  } catch {
    return undefined;
  }
}

function hashSources(): string {
  const folder = fileURLToPath(guestDir);
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.ts')) hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex');
}

/** Bundles `cell` with esbuild: `main.ts` eagerly, each file of `web/lazy` on its own. */
export async function bundlePrelude(): Promise<Prelude> {
  const code = await bundleGuest(fileURLToPath(new URL('main.ts', guestDir)));
  const lazyModules: Record<string, string> = {};
  const { lazyModuleFiles } = (await import(new URL('web/lazy-modules.ts', guestDir).href)) as {
    lazyModuleFiles: Readonly<Record<string, string>>;
  };
  for (const [name, file] of Object.entries(lazyModuleFiles)) {
    lazyModules[name] = await bundleGuest(fileURLToPath(new URL(`web/${file}`, guestDir)));
  }
  return { code, lazyModules, hash: hashPrelude({ code, lazyModules }) };
}

function hashPrelude({ code, lazyModules }: Pick<Prelude, 'code' | 'lazyModules'>): string {
  return createHash('sha256')
    .update(JSON.stringify([code, lazyModules]))
    .digest('hex');
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
