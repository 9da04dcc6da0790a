import { createRequire } from 'node:module';
import { extname, resolve } from 'node:path';
import type { Loader, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from 'esbuild';
import { realPathOf } from '../../file-system/paths.ts';
import type { CompileTarget } from './compile-types.ts';
import { failureFix, failureText } from './entry-check.ts';
import { loadImageAddon, resolveImageAddon } from './image-packages.ts';
import type { InputLedger } from './input-ledger.ts';
import type { PathPolicy } from './path-policy.ts';
import type { ProposedTexts } from './read-input.ts';
import { clip, ImportRefusal, nativeAddon, needOf, needsDocker, needsProcesses, outside, readSpecifier } from './specifiers.ts';

/** What the guard of one build works with. */
export interface GuardOptions {
  readonly policy: PathPolicy;
  readonly ledger: InputLedger;
  readonly builtins: ReadonlyMap<string, () => Promise<string>>;
  readonly standIns?: ReadonlyMap<string, () => Promise<string>>;
  readonly refusedBuiltins: ReadonlyMap<string, string>;
  /** Made by `guardedSpecifiers` of the two before. */
  readonly guarded: RegExp;
  readonly target: CompileTarget;
  /** Some of these files may not be on the disk yet. */
  readonly proposed?: ProposedTexts | undefined;
  /** Turns a real path into what diagnostics may show. */
  readonly showPath: (path: string) => string;
}

const regular = 'Import only regular files of code and JSON.';
const importFix: typeof failureFix = {
  ...failureFix,
  missing: regular,
  'not-regular': regular,
  'too-large': 'Import a smaller part of it, or a smaller package; data is read through context.files or context.fetch.',
};

const loaders: ReadonlyMap<string, Loader> = new Map([
  ['.ts', 'ts'],
  ['.mts', 'ts'],
  ['.cts', 'ts'],
  ['.tsx', 'tsx'],
  ['.js', 'js'],
  ['.mjs', 'js'],
  ['.cjs', 'js'],
  ['.jsx', 'jsx'],
  ['.json', 'json'],
]);

const hotcellModule = 'export const definePlugin = (plugin) => plugin;\nexport const defineTool = (tool) => tool;\n';

/** The esbuild plugin through which every byte of a build comes; esbuild itself opens no file whose content it uses. */
export function createGuardPlugin(options: GuardOptions): Plugin {
  return {
    name: 'guard',
    setup(build) {
      const { proposed } = options;
      if (proposed !== undefined) {
        build.onResolve({ filter: /.*/ }, ({ path, resolveDir }) => {
          const file = resolve(resolveDir, path);
          return proposed.has(file) ? { path: file } : undefined;
        });
      }
      build.onResolve({ filter: options.guarded }, (args) =>
        args.kind === 'entry-point' ? undefined : resolveGuarded(args, options),
      );
      build.onLoad({ filter: /.*/, namespace: 'file' }, (args) => loadFile(args.path, options));
      build.onLoad({ filter: /.*/, namespace: 'builtin' }, async (args) => ({
        contents: (await (options.builtins.get(args.path) ?? options.standIns?.get(args.path))?.()) ?? '',
        loader: 'js',
      }));
      build.onLoad({ filter: /.*/, namespace: 'replaced' }, ({ path }) => ({
        contents: forwardBuiltin(path),
        loader: 'js',
      }));
      build.onLoad({ filter: /.*/, namespace: 'hotcell' }, () => ({ contents: hotcellModule, loader: 'js' }));
    },
  };
}

function resolveGuarded(args: OnResolveArgs, options: GuardOptions): OnResolveResult | undefined {
  if (options.target === 'docker' && args.path.endsWith('.node')) return resolveImageAddon(args, options.policy);
  const meaning = readSpecifier(args.path);
  switch (meaning.kind) {
    case 'hotcell':
      return { path: 'hotcell', namespace: 'hotcell' };
    case 'refused':
      return { errors: [meaning.refusal.toMessage()] };
    case 'path':
      // Refused by its text alone: asking the disk would tell whether a file of the host exists.
      if (options.policy.mayLeadInside(resolve(args.resolveDir, meaning.path))) return undefined;
      return { errors: [outside(args.path).toMessage()] };
    case 'builtin':
      return resolveBuiltin(meaning.name, args, options);
  }
}

function resolveBuiltin(name: string, args: OnResolveArgs, options: GuardOptions): OnResolveResult {
  if (options.target !== 'quickjs') return resolveForProcess(name, args, options);
  if (options.builtins.has(name)) return { path: name, namespace: 'builtin', sideEffects: false };
  const instead = options.refusedBuiltins.get(name) ?? options.refusedBuiltins.get(name.split('/')[0] ?? '');
  const refusal = new ImportRefusal(
    'builtin-refused',
    `Import of "${clip(args.path)}" is refused: the sandbox has no Node built-in "${clip(name)}".`,
    instead ?? `Do without it: the sandbox has ${[...options.builtins.keys()].join(', ') || 'the web API only'}.`,
    needOf(name),
  );
  // Packages often import a built-in that they use only under Node; it is refused when they really reach for it.
  const isPackaged = args.namespace === 'builtin' || options.policy.ownerOf(args.importer) === 'package';
  if (isPackaged && options.standIns?.has(name)) return { path: name, namespace: 'builtin', sideEffects: false };
  return { errors: [refusal.toMessage()] };
}

/** Runtimes of their own have Node's built-ins; what one of them could only refuse at run time is named here and now. */
function resolveForProcess(name: string, args: OnResolveArgs, { target, policy }: GuardOptions): OnResolveResult {
  if (target === 'deno' && needsProcesses.has(name) && policy.ownerOf(args.importer) === 'plugin') {
    return { errors: [needsDocker(args.path).toMessage()] };
  }
  // What `require` returns is the module object itself.
  const isNamed = args.kind !== 'require-call' && args.namespace !== 'replaced';
  if (target === 'deno' && isNamed && replacedBuiltins.has(name))
    return { path: name, namespace: 'replaced', sideEffects: false };
  return { path: `node:${name}`, external: true };
}

/**
 * Built-ins whose functions the Deno engine replaces on the module object. A named import would still get the function of the
 * runtime, which reaches no network, so that a plugin imports them from a module that takes each from the module object.
 */
const replacedBuiltins: ReadonlySet<string> = new Set(['os', 'tls']);

function forwardBuiltin(name: string): string {
  const all: object = createRequire(import.meta.url)(`node:${name}`);
  const names = Object.keys(all).filter((each) => /^[A-Za-z_$][\w$]*$/.test(each) && each !== 'default');
  return `import all from 'node:${name}';\nexport default all;\nexport const { ${names.join(', ')} } = all;\n`;
}

/** Reads one file for a build, or says why it may not be read. */
export function loadFile(path: string, options: GuardOptions): OnLoadResult {
  const shown = options.showPath(path);
  const loader = loaders.get(extname(path));
  if (extname(path) === '.node') {
    const fromImage = options.target === 'docker' ? loadImageAddon(path) : undefined;
    return fromImage ?? { errors: [nativeAddon(shown).toMessage()] };
  }
  const realPath = options.proposed?.has(path) ? path : realPathOf(path);
  const owner = realPath === undefined ? undefined : options.policy.ownerOf(realPath);
  if (realPath === undefined || owner === undefined) return { errors: [outside(shown).toMessage()] };
  if (loader === undefined) {
    return failed(`"${shown}" is refused: only code and JSON can be imported.`, 'Put the data into a .json file or a string.');
  }
  const taken = options.ledger.read(realPath, owner);
  if ('failure' in taken) {
    return taken.failure === 'too-much'
      ? failed(`The plugin imports more than ${options.ledger.bounds}.`, 'Import less, or a smaller package.')
      : failed(`"${shown}" ${failureText[taken.failure]}.`, importFix[taken.failure]);
  }
  if (taken.text.includes('\0')) return failed(`"${shown}" is binary.`, 'Import only text in UTF-8.');
  const text = loader === 'json' ? taken.text : hideSourceMap(taken.text);
  return { contents: loader.endsWith('sx') ? bringJsxRuntime(text) : text, loader };
}

/**
 * The bundler would open the file that such a comment names, wherever it lies, and past every bound. Written so it names none any
 * more, and where it stands in a string that is the same string.
 */
export function hideSourceMap(text: string): string {
  return text.replace(/(\/[/*])([#@])(?=\s*sourceMappingURL)/g, (_comment, start: string, mark: string) =>
    mark === '#' ? `${start}\\x23` : `${start}\\x40`,
  );
}

/** A file with JSX that has no React of its own gets what React brings for that; the last line keeps all others in their place. */
function bringJsxRuntime(text: string): string {
  const choosesItself = /@jsx|\bimport\b[^;'"]*\bReact\b[^;'"]*\bfrom\b|\bReact\s*=[^=]/.test(text);
  return choosesItself ? text : `${text}\n/** @jsxRuntime automatic */`;
}

function failed(message: string, fix: string): OnLoadResult {
  return { errors: [new ImportRefusal('import-refused', message, fix).toMessage()] };
}
