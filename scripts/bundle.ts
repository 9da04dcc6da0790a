import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));

/** What only those commands read that run parts of the daemon in their own process. */
const daemonModules = [
  'src/main.ts',
  'src/cli/serve.ts',
  'src/cli/run-alone.ts',
  'src/cli/read-config.ts',
  'src/config/schema.ts',
  'src/operations/handlers/config.ts',
  'src/operations/doctor/run-doctor.ts',
];

/** What `hotcell build` alone reads: no daemon loads it. */
const moduleBuild = 'src/cli/module-build.ts';

/** Of what the files hold, the one thing that must be the same in all: errors are told apart by their class. */
const sharedModule = 'src/errors/hotcell-error.ts';

/** What the client reads of a package that the daemon has in it. */
const schemaFiles: Readonly<Record<string, string>> = {
  typebox: './schemas.cjs',
  'typebox/value': './schema-check.cjs',
};

const clientEntry = `export { runProcess } from './src/cli/main.ts';
export { HotcellError } from './${sharedModule}';
export const loadDaemon = () => import('./src/main.ts');
`;

const deferredSchemas = 'scripts/deferred-schemas.js';

/** Stands for the hash of the program until the program is there. */
const unknownBuild = 'build-unknown-yet';

/** Where the source file of a module is when the bundle runs, such as `dist/main.js` for `src/main.ts`. */
export type PlaceOf = (sourceFile: string) => string;

/**
 * Writes the program as a few files: many small modules take longer to find than to run. Every command reads `client.cjs`,
 * those that are a daemon read `daemon.cjs`, and `hotcell build` reads `build.cjs`. They are CommonJS so that packages and
 * built-in modules are read where they are used first. Returns what they were made of, as paths from here: sources, and the
 * manifests of the packages that went in.
 */
export async function bundleProgram(folder: string, placeOf: PlaceOf = (source) => source): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const places = keepPlaces(folder, placeOf);
  const shared = referTo({ './client.cjs': [sharedModule] });
  const others = referTo({ './daemon.cjs': daemonModules, './build.cjs': [moduleBuild] });
  const client = [deferSchemas, others, deferOutside, leavePackages(['commander']), places];
  const alone = [shared, leavePackages(['typebox']), places];
  const inputs = await Promise.all([
    bundleFile(join(folder, 'client.cjs'), clientEntry, client),
    ...Object.entries(schemaFiles).map(([name, file]) => bundleFile(join(folder, file), `export * from '${name}';`, [])),
    bundleFile(join(folder, 'daemon.cjs'), exportAll(daemonModules), alone),
    bundleFile(join(folder, 'build.cjs'), exportAll([moduleBuild]), alone),
  ]);
  writeBuild(['client.cjs', 'daemon.cjs', 'build.cjs'].map((name) => join(folder, name)));
  const manifests = ['commander', 'typebox', 'esbuild'].map((name) => `node_modules/${name}/package.json`);
  const sources = inputs.flat().filter((file) => file.startsWith('src/'));
  return [...new Set(['scripts/bundle.ts', deferredSchemas, ...manifests, ...sources])];
}

function exportAll(files: readonly string[]): string {
  return files.map((file) => `export * from './${file}';\n`).join('');
}

async function bundleFile(outfile: string, contents: string, plugins: Plugin[]): Promise<string[]> {
  const options = {
    absWorkingDir: root,
    stdin: { contents, resolveDir: root, sourcefile: 'entry.ts', loader: 'ts' },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    legalComments: 'none',
    minifySyntax: true,
    minifyWhitespace: true,
    metafile: true,
    logLevel: 'silent',
    tsconfigRaw: {},
    define: { HOTCELL_BUILD: JSON.stringify(unknownBuild) },
    plugins,
  } satisfies BuildOptions;
  return Object.keys((await build(options)).metafile.inputs);
}

/** The same sources are the same build, wherever and whenever they are bundled. */
function writeBuild(files: readonly string[]): void {
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  const build = createHash('sha256').update(texts.join()).digest('hex').slice(0, 16);
  for (const [index, file] of files.entries()) writeFileSync(file, (texts[index] ?? '').replaceAll(unknownBuild, build));
}

/**
 * Some modules are in another file. All are resolved here, so that esbuild does not know them as modules of Node: the default
 * of a package that has both forms would be the whole package.
 */
function referTo(sourcesByFile: Readonly<Record<string, readonly string[]>>): Plugin {
  const files = new Map(
    Object.entries(sourcesByFile).flatMap(([file, sources]) => sources.map((source) => [join(root, source), file])),
  );
  return {
    name: 'refer-to-other-file',
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, resolveDir, importer }) => {
        const file = importer === '' || importer === 'entry.ts' ? undefined : files.get(join(resolveDir, path));
        return file === undefined ? { path: join(resolveDir, path) } : { path: file, external: true };
      });
    },
  };
}

/** What Node itself has read before a program begins. */
const isAtHand = /^node:(?:buffer|events|fs|path|process|timers|url|util)$/;

/** What is outside of the client is read when somebody looks into it: most commands need little of what they could do. */
const deferOutside: Plugin = {
  name: 'defer-outside',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'import-statement' && path !== 'commander' && !isAtHand.test(path) ? { path, namespace: 'deferred' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'deferred' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => /^\w+$/.test(name) && name !== 'default');
      const getters = names.map((name) => `get ${name}() { return require(${JSON.stringify(path)}).${name}; }`);
      return { contents: `module.exports = { ${getters.join(', ')} };` };
    });
  },
};

/** Contracts that a command reads make their schemas when somebody looks into them. */
export const deferSchemas: Plugin = {
  name: 'defer-schemas',
  setup({ onResolve }) {
    onResolve({ filter: /^typebox$/ }, () => ({ path: join(root, deferredSchemas) }));
    onResolve({ filter: /^\.\/schemas\.cjs$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** All packages but these few are read from where they are installed. */
function leavePackages(bundled: readonly string[]): Plugin {
  return {
    name: 'leave-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path }) => {
        if (bundled.some((name) => path === name || path.startsWith(`${name}/`))) return undefined;
        return { path: schemaFiles[path] ?? path, external: true };
      });
    },
  };
}

/** A module that looks for files beside itself still finds them: its address stays that of its source file. */
function keepPlaces(folder: string, placeOf: PlaceOf): Plugin {
  return {
    name: 'keep-places',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const place = relative(folder, placeOf(path)).split(sep).join('/');
        const address = `require('node:url').pathToFileURL(require('node:path').join(__dirname, ${JSON.stringify(place)})).href`;
        // In quotes it is a word, not the address.
        return { contents: text.replaceAll(/(?<!['"])import\.meta\.url(?!['"])/g, () => address), loader: 'ts' };
      });
    },
  };
}
