import { basename, dirname, extname, join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';
import type { CompileTarget } from './compile-types.ts';
import { hideSourceMap } from './guard-plugin.ts';
import { adaptedNames } from './other-shapes.ts';

/** What to bundle. */
export interface BundleTarget {
  /** Real path of the entry. */
  readonly entry: string;
  readonly rootDir: string;
  /** Makes the plugins through which every file comes. */
  readonly makePlugins: () => Plugin[];
  readonly target: CompileTarget;
  /** It awaits at its top level: what is left on the global is a promise of the namespace. */
  readonly awaits?: boolean;
  /**
   * The text of the entry, and its name, where it goes in without a path: CommonJS, so that no package.json makes it an ES module,
   * and what takes nothing from files.
   */
  readonly text?: { readonly text: string; readonly name: string; readonly sources: Sources } | undefined;
  /** The text that makes a plugin of the entry, which is a tool file in another shape. */
  readonly adapter?: string | undefined;
  /** Its decorators are those of TypeScript before the standard ones. */
  readonly olderDecorators?: boolean;
}

/** The options of every build: for QuickJS one script that leaves the module namespace on a global, else one ES module. */
export function bundleOptions(target: BundleTarget): BuildOptions & { write: false } {
  const isScript = target.target === 'quickjs';
  const { text, adapter, awaits } = target;
  const isAlone = text?.sources === 'none' && adapter === undefined && !awaits;
  return {
    ...entryOf(target),
    bundle: true,
    write: false,
    outfile: join(target.rootDir, '__hotcell.js'),
    absWorkingDir: target.rootDir,
    plugins: isAlone ? [] : target.makePlugins(),
    platform: 'neutral',
    mainFields: ['module', 'main'],
    // Empty turns off "module"; "import" or "require" and "default" always hold, by the kind of the import.
    conditions: isScript ? [] : ['node'],
    resolveExtensions: ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'],
    target: 'es2023',
    ...(isScript ? scriptOptions(target) : { format: 'esm' }),
    sourcemap: 'external',
    sourcesContent: false,
    // The host's tsconfig.json neither changes nor breaks a plugin.
    tsconfigRaw: target.olderDecorators ? { compilerOptions: { experimentalDecorators: true } } : {},
    ...(isAlone && !hostNames.test(text.text) ? {} : { define: definesOf(target, isScript) }),
    logLevel: 'silent',
    logLimit: 50,
    legalComments: 'none',
    charset: 'utf8',
  };
}

function definesOf({ adapter }: BundleTarget, isScript: boolean): Record<string, string> {
  return {
    'process.env.NODE_ENV': '"production"',
    ...fileNames,
    ...(isScript ? moduleNames : {}),
    ...(adapter === undefined ? {} : adaptedNames),
  };
}

const hostNames = /\bprocess\b|__(?:file|dir)name\b/;
// Packages look beside themselves for files; in a bundle nothing is there, but they load.
const fileNames = { __filename: '"/plugin/index.js"', __dirname: '"/plugin"' };
const moduleNames = {
  'import.meta.url': '"file:///plugin/index.js"',
  'import.meta.filename': fileNames.__filename,
  'import.meta.dirname': fileNames.__dirname,
};

function scriptOptions({ awaits }: BundleTarget): Pick<BuildOptions, 'format' | 'globalName' | 'banner' | 'footer'> {
  if (!awaits) return { format: 'iife', globalName: '__hotcellBundle', footer: { js: footer } };
  const [start, end] = [
    'globalThis.__hotcellExports = (async () => {',
    'const all = globalThis.__hotcellBundle; delete globalThis.__hotcellBundle; return all; })();',
  ];
  return { format: 'esm', banner: { js: start }, footer: { js: end } };
}

function entryOf({ entry, text, adapter, awaits }: BundleTarget): Pick<BuildOptions, 'entryPoints' | 'stdin'> {
  const resolveDir = dirname(entry);
  if (awaits) {
    // The adapter exports the plugin that it makes; the entry itself is imported.
    const path = JSON.stringify(`./${basename(entry)}`);
    const contents =
      adapter === undefined
        ? `import * as all from ${path}; globalThis.__hotcellBundle = all;`
        : adapter.replace('export default', 'globalThis.__hotcellBundle = {}; globalThis.__hotcellBundle.default =');
    return { stdin: { contents, sourcefile: 'hotcell-entry.js', resolveDir, loader: 'js' } };
  }
  if (adapter !== undefined) {
    return { stdin: { contents: adapter, sourcefile: 'hotcell-adapter.js', resolveDir, loader: 'js' } };
  }
  if (!text) return { entryPoints: [entry] };
  const loader = extname(entry).startsWith('.ts') ? 'ts' : 'js';
  const stdin = { contents: hideSourceMap(text.text), sourcefile: text.name, loader } as const;
  // Without a folder to look in, the bundler opens no file whatsoever.
  return { stdin: text.sources === 'none' ? stdin : { ...stdin, resolveDir } };
}

/** Where a module takes what it imports: from other files, from the host alone, or nowhere. */
export type Sources = 'files' | 'host' | 'none';

/**
 * Reads off the words of an entry where its imports come from. Given by its path, the bundler lists the whole folder in which the
 * entry lies, and among thousands of plugins that takes longer than all else; each plugin of the bundler costs a round trip.
 */
export function findSources(path: string, text: string): Sources {
  if (!/^\.[jt]s$/.test(extname(path)) || !/^[ \t]*export\b/m.test(text)) return 'files';
  if (!importing.test(text)) return 'none';
  return importing.test(text.replace(importsOfHost, '')) ? 'files' : 'host';
}

// No import is written without one of these; an escape may hide a letter of `require`.
const importing = /\b(?:import|require)\b|\\u|\bfrom\s*(?:['"]|\/[*/])/;
/** Imports that no file answers. */
const importsOfHost = /^[ \t]*import\b[^;'"]{0,500}?\bfrom\s*(['"])(?:hotcell|node:[\w/]+)\1/gm;

// A CommonJS module may export a function or a plain value; as a namespace that is its default export.
const footer =
  'globalThis.__hotcellExports = typeof __hotcellBundle === "object" && __hotcellBundle !== null ? __hotcellBundle : { default: __hotcellBundle };';
