import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { builtinModules, createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { isInside, realPathOf } from '../file-system/paths.ts';

/** What the thread reads from the disk, whatever a text refers to. */
export type TypeFiles = ReturnType<typeof createTypeFiles>;
export type PackageFiles = ReturnType<TypeFiles['openPackages']>;

/** Where the types of plugins seem to lie. No folder of a machine has the name. */
export const typingsFolder = '/.hotcell-types';
export const sandboxTypings = `${typingsFolder}/sandbox.d.ts`;

const libName = /^lib(\.[a-z0-9]+)*\.d\.ts$/;
const sourceFolder = fileURLToPath(new URL('../', import.meta.url));
/** What src/plugin.ts is made of: source, or declarations in the package. */
const typings =
  /^(?:plugin|plugins\/plugin-context|plugins\/arguments-of|hooks\/handler-types|config\/engine-names)(?:\.d)?\.ts$/;
const packageFile = /(?:\.d\.[cm]?ts|[/\\]package\.json)$/;
const maxPackageFileBytes = 2 * 1024 * 1024;
const maxPackageBytes = 48 * 1024 * 1024;

/** Creates the reader; libraries and typings are kept, files of packages as long as they do not change. */
export function createTypeFiles() {
  const libFolder = dirname(createRequire(import.meta.url).resolve('typescript'));
  const kept = new Map<string, ts.IScriptSnapshot | undefined>();
  const packages = new Map<string, { readonly snapshot: ts.IScriptSnapshot; readonly version: string }>();
  let packageBytes = 0;

  function keep(path: string, text: () => string): ts.IScriptSnapshot | undefined {
    if (kept.has(path)) return kept.get(path);
    let snapshot: ts.IScriptSnapshot | undefined;
    try {
      snapshot = ts.ScriptSnapshot.fromString(text());
    } catch {
      // Not there.
    }
    kept.set(path, snapshot);
    return snapshot;
  }

  function readPackageFile(path: string, isOfPackage: (path: string) => boolean) {
    try {
      const real = realpathSync.native(path);
      const stats = lstatSync(real);
      if (!isOfPackage(real) || !stats.isFile() || stats.size > maxPackageFileBytes) return undefined;
      const version = `${stats.size}:${stats.mtimeMs}`;
      const known = packages.get(path);
      if (known?.version === version) return known;
      if (packageBytes + stats.size > maxPackageBytes) return undefined;
      const read = { snapshot: ts.ScriptSnapshot.fromString(readFileSync(real, 'utf8')), version };
      packageBytes += stats.size;
      packages.set(path, read);
      return read;
    } catch {
      return undefined;
    }
  }

  return {
    /** The folder of the types of the language. */
    libFolder,
    /** A file of these. */
    readLib(path: string): ts.IScriptSnapshot | undefined {
      const name = path.startsWith(`${libFolder}/`) ? path.slice(libFolder.length + 1) : '';
      return libName.test(name) ? keep(path, () => readFileSync(join(libFolder, name), 'utf8')) : undefined;
    },
    /** A file of the types that plugins import from 'hotcell', or what the sandbox has beside the language. */
    readTypings(path: string): ts.IScriptSnapshot | undefined {
      if (path === sandboxTypings) return keep(path, describeSandbox);
      const name = path.startsWith(`${typingsFolder}/`) ? path.slice(typingsFolder.length + 1) : '';
      return typings.test(name) ? keep(path, () => readFileSync(join(sourceFolder, name), 'utf8')) : undefined;
    },
    /** Types of packages, and their manifests, for one question: nothing else of them is read, and nothing outside of their folders. */
    openPackages(packageDirs: readonly string[]) {
      // What did not fit is given another chance without what earlier plugins brought.
      if (packageBytes > maxPackageBytes / 2) {
        packages.clear();
        packageBytes = 0;
      }
      const isOfPackage = (path: string): boolean => packageDirs.some((folder) => isInside(folder, path));
      const seen = new Map<string, ReturnType<typeof readPackageFile>>();
      return {
        read(path: string) {
          if (!packageFile.test(path) || !isOfPackage(path)) return undefined;
          if (!seen.has(path)) seen.set(path, readPackageFile(path, isOfPackage));
          return seen.get(path);
        },
        hasFolder(path: string): boolean {
          if (packageDirs.includes(path)) return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
          const real = isOfPackage(path) ? realPathOf(path) : undefined;
          return real !== undefined && isOfPackage(real) && lstatSync(real).isDirectory();
        },
        /** The same path where a link leads out. */
        realPath(path: string): string {
          const real = isOfPackage(path) ? realPathOf(path) : undefined;
          return real !== undefined && isOfPackage(real) ? real : path;
        },
      };
    },
  };
}

/** What is there without being of the language: its types do not matter, that it is there does. */
function describeSandbox(): string {
  const modules = builtinModules.filter((name) => !name.includes(':')).map((name) => `declare module '${name}';`);
  const globals = ['Buffer', 'process', 'global', 'setImmediate', 'clearImmediate', '__filename', '__dirname'];
  return [
    ...modules,
    "declare module 'node:*';",
    // The daemon has zod for plugins that bring none.
    "declare module 'zod*';",
    ...globals.map((name) => `declare const ${name}: any;`),
    'interface ImportMeta { readonly url: string; readonly filename: string; readonly dirname: string }',
  ].join('\n');
}
