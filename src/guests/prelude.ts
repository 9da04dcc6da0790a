import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { bundleGuest, cacheFile, keepFile } from './bundle.ts';

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
  const file = cacheFile(dataDir, 'prelude', 'json', ['cell']);
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

/** Bundles `cell` with esbuild: `main.ts` eagerly, each file of `web/lazy` on its own. */
export async function bundlePrelude(): Promise<Prelude> {
  const code = await bundleGuest({ entryPoints: [fileURLToPath(new URL('main.ts', guestDir))], format: 'iife', minify: true });
  const lazyDir = new URL('web/lazy/', guestDir);
  const lazyModules: Record<string, string> = {};
  for (const file of readdirSync(lazyDir).sort()) {
    const entryPoints = [fileURLToPath(new URL(file, lazyDir))];
    const text = await bundleGuest({ entryPoints, format: 'esm', minify: true, plugins: [baseParts] });
    lazyModules[file.replace('.ts', '')] = toFunctionBody(text);
  }
  return { code, lazyModules, hash: hashPrelude({ code, lazyModules }) };
}

/** What a lazy module takes of the base stays an import of its bundle. */
const baseParts: Plugin = {
  name: 'base-parts',
  setup({ onResolve }) {
    onResolve({ filter: /\/base\.ts$/ }, () => ({ path: 'base', external: true }));
  },
};

/** A module as the body of a function that takes `base` and returns its exports. */
function toFunctionBody(module: string): string {
  const rename = (names: string, toPair: (from: string, to: string) => string): string =>
    names.replace(/([\w$]+) as ([\w$]+)/g, (_whole, from: string, to: string) => toPair(from, to));
  return module
    .replace(
      /import(\{[^}]*\})from"base";/g,
      (_whole, names: string) => `const${rename(names, (from, to) => `${from}:${to}`)}=base;`,
    )
    .replace(/export(\{[^}]*\});\s*$/, (_whole, names: string) => `return${rename(names, (from, to) => `${to}:${from}`)}`);
}

function hashPrelude({ code, lazyModules }: Pick<Prelude, 'code' | 'lazyModules'>): string {
  return hash('sha256', JSON.stringify([code, lazyModules]), 'hex');
}
