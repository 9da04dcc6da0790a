import { join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';

/** The options of every build: one script that leaves the module namespace on `globalThis.__hotcellExports`. */
export function bundleOptions(target: { entry: string; rootDir: string; guard: Plugin }): BuildOptions & { write: false } {
  return {
    entryPoints: [target.entry],
    bundle: true,
    write: false,
    outfile: join(target.rootDir, '__hotcell.js'),
    absWorkingDir: target.rootDir,
    plugins: [target.guard],
    platform: 'neutral',
    mainFields: ['module', 'main'],
    // Empty turns off "module"; "import" or "require" and "default" always hold, by the kind of the import.
    conditions: [],
    resolveExtensions: ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'],
    target: 'es2023',
    format: 'iife',
    globalName: '__hotcellBundle',
    footer: { js: footer },
    sourcemap: 'external',
    sourcesContent: false,
    // The host's tsconfig.json neither changes nor breaks a plugin.
    tsconfigRaw: '{}',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
    logLimit: 50,
    legalComments: 'none',
    charset: 'utf8',
  };
}

// A CommonJS module may export a function or a plain value; as a namespace that is its default export.
const footer =
  'globalThis.__hotcellExports = typeof __hotcellBundle === "object" && __hotcellBundle !== null ? __hotcellBundle : { default: __hotcellBundle };';
