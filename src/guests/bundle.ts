import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

const guestsDir = fileURLToPath(new URL('./', import.meta.url));

/** Nothing that lies around on the machine has a say in what runs in guests. */
const common = {
  bundle: true,
  write: false,
  platform: 'neutral',
  target: 'es2023',
  tsconfigRaw: '{}',
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** Bundles code of guests into one text. */
export async function bundleGuest(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({ ...options, ...common });
  return outputFiles[0]?.text ?? '';
}

/** The names that a module of guests exports. */
export async function listExportedNames(options: BuildOptions): Promise<string[]> {
  const { metafile } = await build({ ...options, ...common, format: 'esm', outfile: 'names.js', metafile: true });
  return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

/** Names a file of the cache after the state of the sources in these folders of guests. */
export function cacheFile(dataDir: string, name: string, extension: string, folders: readonly string[]): string {
  const hash = createHash('sha256');
  for (const folder of folders.map((each) => join(guestsDir, each))) {
    for (const source of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      if (source.endsWith('.ts')) hash.update(`${source}\n`).update(readFileSync(join(folder, source)));
    }
  }
  return join(dataDir, 'cache', `${name}-${hash.digest('hex').slice(0, 32)}.${extension}`);
}

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
