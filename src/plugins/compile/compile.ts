import { lstatSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { Message } from 'esbuild';
import { raceAbort } from '../../concurrency/race-abort.ts';
import type { EngineNeed } from '../../engines/engine.ts';
import { isPassingMessage } from '../../errors/system-error.ts';
import { realPathOf } from '../../file-system/paths.ts';
import type { BuildInput } from '../generations/generation.ts';
import type { Diagnostic } from '../plugin-types.ts';
import { bundleOptions, findSources } from './bundle-options.ts';
import { runBundle, stopBundler } from './bundle-service.ts';
import { createCommonJsPlugin, looksLikeCommonJs } from './commonjs.ts';
import type { BuildFailure, CompileRequest, CompileResult, Compiler, CompilerOptions } from './compile-types.ts';
import { needsOlderDecorators, usesOlderDecorators, warnOfMetadata } from './decorators.ts';
import { checkEntry } from './entry-check.ts';
import { createGuardPlugin, type GuardOptions, loadFile } from './guard-plugin.ts';
import { createImagePackagesPlugin } from './image-packages.ts';
import { createInputLedger, hashInputs, type InputLedger } from './input-ledger.ts';
import { describeWarning, diagnoseMessages, type MessageContext } from './message-diagnostic.ts';
import { findMissingImports, isInstalled, suggestFiles } from './missing-imports.ts';
import { adaptedEntry, createShapesPlugin, createZodPlugin } from './other-shapes.ts';
import { createPathPolicy, isVisibleInside } from './path-policy.ts';
import { type ProposedTexts, readInput } from './read-input.ts';
import { guardedSpecifiers, ImportRefusal } from './specifiers.ts';
import { findStrayPackageFile, listPackageFolders } from './stray-package-file.ts';
import { readTypeImports } from './type-imports.ts';

const wallMs = 10_000;
const maxWarnings = 20;

let openCompilers = 0;

/** Makes a compiler. All compilers of a process share one bundler service, which ends with the last of them. */
export function createCompiler(options: CompilerOptions): Compiler {
  const sharedDirs = options.sharedDirs.flatMap((folder) => realPathOf(folder) ?? []);
  const guarded = guardedSpecifiers([...options.builtins.keys(), ...options.refusedBuiltins.keys()]);
  openCompilers += 1;
  let isOpen = true;
  return {
    async compile(request) {
      request.signal?.throwIfAborted();
      const build = compilePlugin(request, { ...options, sharedDirs, guarded });
      return request.signal ? raceAbort(build, request.signal) : build;
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      openCompilers -= 1;
      if (openCompilers === 0) await stopBundler();
    },
  };
}

async function compilePlugin(
  request: CompileRequest,
  options: CompilerOptions & Pick<GuardOptions, 'guarded'>,
): Promise<CompileResult> {
  const rootDir = realPathOf(request.rootDir);
  const pluginDir = realPathOf(request.pluginDir);
  const entryName = relative(request.rootDir, request.entry);
  if (rootDir === undefined || pluginDir === undefined) return fail(goneFolder(entryName), []);
  const { proposed } = request;
  const ledger = createInputLedger(proposed);
  const showPath = (path: string) =>
    relative(rootDir, path)
      .split(sep)
      .join('/')
      .replace(/^(\.\.\/)+(?=node_modules\/)/, '');

  const entry = openEntry(request.entry, entryName, proposed);
  if ('diagnostic' in entry) return fail(entry.diagnostic, []);
  const { sharedDirs } = options;
  const mayBeEntry = [rootDir, ...sharedDirs].some((folder) => isVisibleInside(folder, entry.realPath));
  if (!mayBeEntry) return fail(entryOutside(entryName), []);
  const ownDir = request.isFolder ? pluginDir : undefined;
  const policy = createPathPolicy({ entry: entry.realPath, ownDir, rootDir, sharedDirs, pluginDir });
  const read = readInput(entry.realPath, proposed);
  const problem = checkEntry(entryName, read) ?? checkPackageFile(pluginDir);
  if (typeof read !== 'string') ledger.add(read, 'plugin');
  if (problem !== undefined || typeof read === 'string') {
    return { ...fail(problem ?? goneFolder(entryName), ledger.inputs()), ...(read === 'passing' && { isPassing: true }) };
  }

  const context: MessageContext = {
    rootDir,
    textOf: ledger.textOf,
    showPath,
    suggestFiles: (...import_) => suggestFiles(policy, ...import_),
    isInstalled: (name) => isInstalled(name, policy),
  };
  const target = request.target ?? 'quickjs';
  const guardOptions = { ...options, policy, ledger, showPath, target, proposed };
  const isCommonJs = looksLikeCommonJs(entry.realPath, read.text);
  const load = (path: string) => loadFile(path, guardOptions);
  const fromImage = target === 'docker' ? [createImagePackagesPlugin()] : [];
  const { isAdapted = false, isTrial = false } = request;
  const { readShapes } = options;
  const entryDir = dirname(entry.realPath);
  const shapes = (isAdapted || isTrial) && readShapes ? { entryDir, readShapes, isTrial, builtins: options.builtins } : undefined;
  const makePlugins = () => [
    ...(options.readOwnZod ? [createZodPlugin(options.readOwnZod)] : []),
    ...(shapes ? [createShapesPlugin(shapes)] : []),
    createGuardPlugin(guardOptions),
    ...fromImage,
    ...(isCommonJs ? [createCommonJsPlugin({ policy, showPath, load })] : []),
  ];
  const adapter = isAdapted && shapes ? adaptedEntry(entry.realPath, isCommonJs) : undefined;
  const sources = findSources(entry.realPath, read.text);
  const isText = isCommonJs || sources !== 'files';
  const text = isText ? { text: read.text, name: showPath(entry.realPath), sources } : undefined;
  const olderDecorators = usesOlderDecorators(read.text);
  const bundle = { entry: entry.realPath, rootDir, makePlugins, text, adapter, target, olderDecorators };
  const bounds = {
    wallMs,
    findObstacle() {
      const packages = listPackageFolders(ledger.texts(), policy.packageDirs);
      return findStrayPackageFile([...(ownDir === undefined ? [] : [ownDir]), ...packages]);
    },
  };
  const bundling = runBundle(bundleOptions(bundle), bounds);
  // It takes nothing from files, so the entry is all that there will be.
  if (sources !== 'files') request.onSources?.(ownSources(ledger, showPath));
  const asWritten = await bundling;
  const isOlder = !olderDecorators && asWritten.kind === 'failed' && needsOlderDecorators(asWritten.failure);
  if (isOlder) bundle.olderDecorators = true;
  const first = isOlder ? await runBundle(bundleOptions(bundle), bounds) : asWritten;
  // A script cannot await at its top level; a function that stands around it can.
  const awaits = first.kind === 'failed' && first.failure.errors.every(({ text }) => text.startsWith('Top-level await'));
  const outcome = awaits ? await runBundle(bundleOptions({ ...bundle, awaits }), bounds) : first;
  if (outcome.kind === 'stuck') return fail(strayPackageFile(showPath(outcome.obstacle)), ledger.inputs(), [outcome.obstacle]);
  if (outcome.kind === 'overwhelmed') return fail(overwhelmed(entryName, outcome.reason), ledger.inputs());
  if (outcome.kind === 'failed') {
    const { errors } = outcome.failure;
    const { missing, packageFiles } = findMissingImports(errors, rootDir, policy);
    const failure = fail(diagnoseMessages(errors, context), [...ledger.inputs(), ...packageFiles], missing);
    if (ledger.hasPassingFailure() || errors.some(({ text }) => isPassingMessage(text))) return { ...failure, isPassing: true };
    const needs = findNeeds(errors);
    return needs === undefined ? failure : { ...failure, needs };
  }
  readTypeImports(ledger, policy);
  return {
    ok: true,
    code: outputText(outcome.result.outputFiles, '.js'),
    sourceMap: outputText(outcome.result.outputFiles, '.map'),
    inputs: ledger.inputs(),
    contentHash: hashInputs(ledger.inputs(), showPath),
    sources: ownSources(ledger, showPath),
    warnings: [...warningLines(outcome.result.warnings, context), ...(bundle.olderDecorators ? warnOfMetadata(read.text) : [])],
  };
}

/** What an engine must have to compile it; undefined when something else is wrong with it, too. */
function findNeeds(errors: readonly Message[]): EngineNeed[] | undefined {
  const needs = errors.flatMap(({ detail }) => (detail instanceof ImportRefusal ? (detail.need ?? []) : []));
  return needs.length > 0 && needs.length === errors.length ? needs : undefined;
}

function fail(diagnostic: Diagnostic, inputs: readonly BuildInput[], missing: readonly string[] = []): BuildFailure {
  return { ok: false, diagnostic, inputs, missing };
}

function openEntry(
  path: string,
  file: string,
  proposed: ProposedTexts | undefined,
): { realPath: string } | { diagnostic: Diagnostic } {
  const realPath = proposed?.has(path) ? path : realPathOf(path);
  if (realPath !== undefined) return { realPath };
  const message = `"${file}" does not exist, or is a link to nothing.`;
  return { diagnostic: { code: 'entry-invalid', message, file, fix: 'Create the file.' } };
}

// The bundler opens package.json by itself and would wait for ever on a pipe of that name.
function checkPackageFile(pluginDir: string): Diagnostic | undefined {
  const stats = lstatSync(join(pluginDir, 'package.json'), { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return undefined;
  return strayPackageFile('package.json');
}

function strayPackageFile(file: string): Diagnostic {
  const message = `${file} is not a regular file, so nothing beside it can be bundled.`;
  return { code: 'entry-invalid', message, file, fix: 'Replace it by a regular file, or install the package again.' };
}

function entryOutside(file: string): Diagnostic {
  const message = `"${file}" leads out of the plugin folder, or into a hidden folder.`;
  return { code: 'import-refused', message, file, fix: 'Put the file itself into the plugin folder.' };
}

function goneFolder(file: string): Diagnostic {
  return { code: 'entry-invalid', message: `The folder of "${file}" is not there.`, file, fix: 'Put the folder back.' };
}

function overwhelmed(file: string, reason: 'time' | 'crash'): Diagnostic {
  const message =
    reason === 'time'
      ? `Compiling "${file}" took longer than ${wallMs / 1000} s.`
      : `"${file}" cannot be compiled: the bundler gave up on it, usually because the code is nested too deeply.`;
  const fix =
    reason === 'time'
      ? 'On a busy machine try again: hotcell plugin reload NAME. If it comes back, import less.'
      : 'Make the file simpler: split it, and nest less.';
  return { code: 'compile-failed', message, file, fix };
}

function ownSources(ledger: InputLedger, showPath: (path: string) => string): Array<{ path: string; text: string }> {
  return ledger.ownFiles().map(({ path, text }) => ({ path: showPath(path), text }));
}

function outputText(files: ReadonlyArray<{ path: string; text: string }>, ending: string): string {
  return files.find((file) => file.path.endsWith(ending))?.text ?? '';
}

function warningLines(messages: readonly Message[], context: MessageContext): string[] {
  return messages.flatMap((message) => describeWarning(message, context) ?? []).slice(0, maxWarnings);
}
