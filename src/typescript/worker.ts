/** A thread with the language service of TypeScript: it checks one request after the other and keeps nothing of them. */
import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import ts from 'typescript';
import type { CheckRequest, CheckResult, FromChecker, TypeDiagnostic } from './check-types.ts';

const folder = '/hotcell';
const libFolder = dirname(createRequire(import.meta.url).resolve('typescript'));
const libName = /^lib(\.[a-z0-9]+)*\.d\.ts$/;
const maxDiagnostics = 100;
const maxMessageChars = 2000;

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleDetection: ts.ModuleDetectionKind.Auto,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  strict: true,
  useUnknownInCatchVariables: false,
  skipLibCheck: true,
  noEmit: true,
  types: [],
};

const files = new Map<string, ts.IScriptSnapshot>();
const libs = new Map<string, ts.IScriptSnapshot>();
let version = 0;

function readLib(path: string): ts.IScriptSnapshot | undefined {
  const name = path.startsWith(`${libFolder}/`) ? path.slice(libFolder.length + 1) : '';
  if (!libName.test(name)) return undefined;
  const known = libs.get(name);
  if (known !== undefined) return known;
  try {
    const snapshot = ts.ScriptSnapshot.fromString(readFileSync(join(libFolder, name), 'utf8'));
    libs.set(name, snapshot);
    return snapshot;
  } catch {
    return undefined;
  }
}

// Whatever a text refers to, no file is read but those of the language.
const find = (path: string) => files.get(path) ?? readLib(path);
const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => [...files.keys()],
  getScriptVersion: (path) => (files.has(path) ? String(version) : '0'),
  getScriptSnapshot: find,
  getCurrentDirectory: () => folder,
  getDefaultLibFileName: () => join(libFolder, 'lib.es2023.d.ts'),
  fileExists: (path) => find(path) !== undefined,
  readFile(path) {
    const found = find(path);
    return found?.getText(0, found.getLength());
  },
  directoryExists: (path) => path === folder || path === libFolder,
  getDirectories: () => [],
});

function check({ files: given, emit }: CheckRequest): CheckResult {
  version++;
  files.clear();
  for (const { name, text } of given) files.set(join(folder, name), ts.ScriptSnapshot.fromString(text));
  const diagnostics: TypeDiagnostic[] = [];
  for (const { name } of given) {
    const path = join(folder, name);
    const syntax = service.getSyntacticDiagnostics(path);
    const found = syntax.length > 0 || name.endsWith('.d.ts') ? syntax : service.getSemanticDiagnostics(path);
    diagnostics.push(...found.slice(0, maxDiagnostics).map((each) => describe(name, each)));
    if (name === emit && syntax.length > 0) return { diagnostics };
  }
  const source = given.find(({ name }) => name === emit);
  return source === undefined ? { diagnostics } : { diagnostics, javascript: toJavaScript(source.text) };
}

function describe(file: string, { file: source, start = 0, code, messageText }: ts.Diagnostic): TypeDiagnostic {
  const { line, character } = source?.getLineAndCharacterOfPosition(start) ?? { line: 0, character: 0 };
  const message = ts.flattenDiagnosticMessageText(messageText, '\n').slice(0, maxMessageChars);
  return { file, line: line + 1, column: character + 1, code, message };
}

/** Types become blanks; a text that has more than types, such as an enum, is written anew and its lines may move. */
function toJavaScript(text: string): string {
  try {
    return stripTypeScriptTypes(text);
  } catch {
    return ts.transpileModule(text, {
      compilerOptions: { target: options.target ?? ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
    }).outputText;
  }
}

const tell = (message: FromChecker): void => parentPort?.postMessage(message);

// What every check needs is read before the first one is timed.
check({
  files: [{ name: 'warm.ts', text: 'const warm: Promise<string[]> = Promise.resolve([]); await warm;' }],
  emit: 'warm.ts',
});
parentPort?.on('message', (request: CheckRequest) => tell({ type: 'checked', result: check(request) }));
tell({ type: 'ready' });
