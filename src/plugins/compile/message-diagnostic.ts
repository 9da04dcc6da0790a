import { resolve } from 'node:path';
import type { Location, Message } from 'esbuild';
import { renderCodeFrame } from '../diagnostics/code-frame.ts';
import type { Diagnostic } from '../plugin-types.ts';
import { commonJsNamespace } from './commonjs.ts';
import { ImportRefusal } from './specifiers.ts';

/** What turns the bundler's messages into diagnostics. */
export interface MessageContext {
  readonly rootDir: string;
  /** Text of a file that the guard let through; undefined for every other file, which is never quoted. */
  readonly textOf: (path: string) => string | undefined;
  readonly showPath: (path: string) => string;
  /** Names of files near an import that was not found, as the plugin would write them. */
  readonly suggestFiles: (specifier: string, importer: string | undefined) => readonly string[];
  /** Whether a package is there, though what was imported of it is not. */
  readonly isInstalled: (name: string) => boolean;
}

/** The diagnostic of a failed build: refusals first, since other errors often follow from them. */
export function diagnoseMessages(messages: readonly Message[], context: MessageContext): Diagnostic {
  const first = messages.find((message) => message.detail instanceof ImportRefusal) ?? messages[0];
  if (!first)
    return {
      code: 'compile-failed',
      message: 'The bundler failed without saying why.',
      fix: 'Simplify the file and save again.',
    };
  const packages = [...new Set(messages.flatMap((message) => missingPackage(message) ?? []))].filter(
    (name) => !context.isInstalled(name),
  );
  const imports = messages.filter((message) => isWrongImport(message));
  if (!imports.includes(first)) return addCount(diagnoseMessage(first, context), messages.length - 1);
  // Several packages are one sentence, at the first of them.
  const firstPackage = imports.find((message) => missingPackage(message) !== undefined);
  const told = imports.filter((message) => message === firstPackage || missingPackage(message) === undefined);
  const diagnostics = [first, ...told.filter((message) => message !== first)].map((message) =>
    message === firstPackage && packages.length > 1
      ? diagnosePackages(packages, message, context)
      : diagnoseMessage(message, context),
  );
  return addCount(joinDiagnostics(diagnostics), messages.length - imports.length);
}

const maxTold = 10;

/** All that is wrong with the imports as one: the first of them, and what the others say with their places. */
function joinDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic {
  const [first, ...others] = diagnostics;
  if (first === undefined) throw new Error('there is nothing to join');
  const sentences = others.map(({ file, line, message }) => {
    const place = file === undefined || line === undefined ? '' : file === first.file ? `Line ${line}: ` : `${file}:${line}: `;
    return `${place}${message}`;
  });
  const told = [...new Set(sentences)].filter((sentence) => !sentence.endsWith(first.message));
  const joined = { ...first, message: [first.message, ...told.slice(0, maxTold)].join(' ') };
  const fixes = [...new Set(diagnostics.slice(0, maxTold + 1).flatMap(({ fix }) => fix ?? []))];
  return addCount(fixes.length === 0 ? joined : { ...joined, fix: fixes.join(' ') }, Math.max(0, told.length - maxTold));
}

function addCount(diagnostic: Diagnostic, others: number): Diagnostic {
  if (others === 0) return diagnostic;
  return { ...diagnostic, message: `${diagnostic.message} (and ${others} more ${others === 1 ? 'error' : 'errors'})` };
}

function isWrongImport({ text, detail }: Message): boolean {
  return detail instanceof ImportRefusal || /^Could not resolve "/.test(text);
}

/** A warning of the bundler as one line; undefined when it is about a file of a package. */
export function describeWarning(message: Message, context: MessageContext): string | undefined {
  const place = placeOf(message.location, context);
  if (!place || place.file.includes('node_modules')) return undefined;
  const text = meanings[message.id] ?? `${message.text}.`;
  return `${place.file}:${place.line}: ${text}`;
}

const meanings: Readonly<Record<string, string>> = {
  'empty-import-meta': 'import.meta is empty in the sandbox: a plugin has no address of its own.',
};

function diagnoseMessage(message: Message, context: MessageContext): Diagnostic {
  const place = placeOf(message.location, context);
  if (message.detail instanceof ImportRefusal) {
    const { code, message: text, fix } = message.detail;
    return { code, message: text, ...place, fix };
  }
  // The bundler parses package.json by itself; its message would quote a file that the guard has not seen.
  if (message.location && !place) {
    const file = message.location.file.split('/').at(-1) ?? 'package.json';
    return {
      code: 'compile-failed',
      message: `A ${file} that the build depends on cannot be read as JSON.`,
      fix: `Correct ${file}.`,
    };
  }
  const missing = /^Could not resolve "(.*)"/.exec(message.text)?.[1];
  if (missing !== undefined) return { ...diagnoseMissing(missing, message, context), ...place };
  const unmatched = /^No matching export in "(.*)" for import "(.*)"$/.exec(message.text);
  if (unmatched) return { code: 'compile-failed', ...diagnoseExport(unmatched, message), ...place };
  return {
    code: 'compile-failed',
    message: `${message.text.replaceAll(context.rootDir, '.')}.`,
    ...place,
    fix: 'Save the file when it is mended: it is built again by itself.',
  };
}

/** A module that is there, and does not export what is imported. */
function diagnoseExport(
  [, path = '', name = '']: readonly string[],
  { location, notes }: Message,
): Pick<Diagnostic, 'message' | 'fix'> {
  const from = /\bfrom\s*(['"])([^'"]+)\1/.exec(location?.lineText ?? '')?.[2];
  const shown = from ?? path.replace(/^(?:\.\.\/)+(?=node_modules\/)/, '');
  if (name === 'default') {
    return {
      message: `"${shown}" has no default export.`,
      fix: `Import by name: import { NAME } from "${shown}", or all of it: import * as NAME from "${shown}".`,
    };
  }
  const near = /Did you mean to import "([^"]+)" instead/.exec(notes[0]?.text ?? '')?.[1];
  const fix = near === undefined ? `Import what "${shown}" exports.` : `Did you mean "${near}"?`;
  return { message: `"${shown}" does not export "${name}".`, fix };
}

/** The package of an import that was not found; undefined for other errors and for imports of files. */
function missingPackage({ text, detail }: Message): string | undefined {
  const specifier = detail instanceof ImportRefusal ? undefined : /^Could not resolve "(.*)"/.exec(text)?.[1];
  return specifier === undefined || /^(?:[.#/]|[@~]\/)/.test(specifier) ? undefined : packageName(specifier);
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function diagnosePackages(packages: readonly string[], first: Message, context: MessageContext): Diagnostic {
  const names = packages.map((name) => `"${name}"`).join(', ');
  return {
    code: 'import-unresolved',
    message: `${packages.length} packages were not found in any node_modules of the plugin or above it: ${names}.`,
    ...placeOf(first.location, context),
    fix: `Install them in the folder of the plugin: npm install ${packages.join(' ')}.`,
  };
}

function diagnoseMissing(
  specifier: string,
  message: Message,
  context: MessageContext,
): Pick<Diagnostic, 'code' | 'message' | 'fix'> {
  const code = 'import-unresolved';
  if (specifier.startsWith('.')) {
    const importer = message.location ? resolve(context.rootDir, message.location.file) : undefined;
    const near = context.suggestFiles(specifier, importer);
    const fix =
      near.length > 0 ? `Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : 'Correct the path, or create the file.';
    return { code, message: `Import "${specifier}" was not found: there is no such file.`, fix };
  }
  if (specifier.startsWith('#')) {
    return {
      code,
      message: `Import "${specifier}" was not found under "imports" of package.json.`,
      fix: 'Declare it there, or import by path.',
    };
  }
  if (/^[@~]\//.test(specifier)) {
    return {
      code,
      message: `Import "${specifier}" was not found: it is a path alias of another project ("paths" of its tsconfig), not a package.`,
      fix: 'Put the file beside the plugin and import it by its relative path.',
    };
  }
  const name = packageName(specifier);
  if (specifier === 'react/jsx-runtime') {
    return {
      code,
      message: 'JSX needs React: no node_modules of the plugin or above it has the package "react".',
      fix: 'Install it in the folder of the plugin: npm install react. Or do without JSX.',
    };
  }
  if (context.isInstalled(name)) {
    return {
      code,
      message: `Import "${specifier}" was not found: the package "${name}" is installed, but does not have it.`,
      fix: `Import what the package has ("exports" and "main" of its package.json), or install it anew: npm install ${name}.`,
    };
  }
  return {
    code,
    message: `Import "${specifier}" was not found: no node_modules of the plugin or above it has the package "${name}".`,
    fix: `Install it in the folder of the plugin: npm install ${name}.`,
  };
}

type Place = Required<Pick<Diagnostic, 'file' | 'line' | 'column' | 'codeFrame'>>;

function placeOf(location: Location | null, context: MessageContext): Place | undefined {
  const path = location ? pathOf(location, context.rootDir) : undefined;
  if (!location || path === undefined) return undefined;
  const text = context.textOf(path);
  if (text === undefined) return undefined;
  // The bundler counts columns in bytes from 0, people count characters from 1.
  const column = Buffer.from(location.lineText).subarray(0, location.column).toString().length + 1;
  const position = { line: location.line, column };
  return { file: context.showPath(path), ...position, codeFrame: renderCodeFrame(text, position) };
}

/** The path of a file that a location names; undefined for modules that are no files. */
function pathOf({ file, namespace }: Location, rootDir: string): string | undefined {
  const prefix = `${commonJsNamespace}:`;
  if (namespace === commonJsNamespace || file.startsWith(prefix)) return resolve(rootDir, file.replace(prefix, ''));
  return namespace === '' || namespace === 'file' ? resolve(rootDir, file) : undefined;
}
