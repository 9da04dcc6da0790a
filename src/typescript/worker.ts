/** A thread with the language service of TypeScript: it answers one question after the other and keeps nothing of them. */
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import ts from 'typescript';
import type { CheckerQuestions, CheckRequest, CheckResult, ToChecker, TypeDiagnostic } from './check-types.ts';
import { countSyntaxFaults, createPluginInspector } from './inspect-plugin.ts';
import { restoreCheck } from './restore-check.ts';
import { createTypeFiles } from './type-files.ts';

const folder = '/hotcell';
const typeFiles = createTypeFiles();
const { libFolder } = typeFiles;
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
let version = 0;

// Whatever a text refers to, no file is read but those of the language.
const find = (path: string) => files.get(path) ?? typeFiles.readLib(path);
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

function answer(question: ToChecker): CheckerQuestions[keyof CheckerQuestions]['result'] {
  switch (question.type) {
    case 'check':
      return check(question.request);
    case 'inspect':
      return inspect(question.request);
    case 'parse':
      return countSyntaxFaults(question.request);
    case 'restore':
      return restoreCheck(question.request);
  }
}

const inspect = createPluginInspector(typeFiles);

// What every check needs is read before the first one is timed.
const text = 'const warm: Promise<string[]> = Promise.resolve([]); await warm;';
if (workerData === 'inspect') {
  const plugin = `import { definePlugin } from 'hotcell';\n${text}\nexport default definePlugin({ handler: () => fetch('') });`;
  inspect({ files: [{ name: `${folder}/warm.ts`, text: plugin }], packageDirs: [] });
} else check({ files: [{ name: 'warm.ts', text }], emit: 'warm.ts' });
parentPort?.on('message', (question: ToChecker) => parentPort?.postMessage(answer(question)));
parentPort?.postMessage('ready');
