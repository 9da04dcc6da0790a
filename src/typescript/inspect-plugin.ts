import { dirname, join } from 'node:path';
import ts from 'typescript';
import type { CodeFix, InspectRequest, InspectResult, ParseRequest, PluginFault } from './check-types.ts';
import { findNearMembers, nearMemberFix } from './near-members.ts';
import { quoteDeclarations } from './quote-declarations.ts';
import { type PackageFiles, sandboxTypings, type TypeFiles, typingsFolder } from './type-files.ts';

const maxFaults = 50;
const maxMessageChars = 1000;
const maxFixes = 20;
/** Faults for which fixes are looked for, and edits of one fix. */
const maxFixedFaults = 10;
const maxEdits = 50;

/**
 * Looks into plugins with the language service: one after the other, and nothing is kept of them but what packages they use. Types
 * that a plugin leaves out are no fault of it.
 */
export function createPluginInspector(typeFiles: TypeFiles): (request: InspectRequest) => InspectResult {
  const files = new Map<string, ts.IScriptSnapshot>();
  const folders = new Set<string>();
  let packages: PackageFiles = typeFiles.openPackages([]);
  let version = 0;
  const options = optionsOf();

  const read = (path: string): ts.IScriptSnapshot | undefined =>
    files.get(path) ?? typeFiles.readTypings(path) ?? typeFiles.readLib(path) ?? packages.read(path)?.snapshot;
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [...files.keys(), sandboxTypings],
    getScriptVersion: (path) => (files.has(path) ? String(version) : (packages.read(path)?.version ?? '0')),
    getScriptSnapshot: read,
    getCurrentDirectory: () => typingsFolder,
    getDefaultLibFileName: () => join(typeFiles.libFolder, 'lib.es2023.d.ts'),
    fileExists: (path) => read(path) !== undefined,
    readFile(path) {
      const found = read(path);
      return found?.getText(0, found.getLength());
    },
    directoryExists: (path) => folders.has(path) || path.startsWith(typingsFolder) || packages.hasFolder(path),
    getDirectories: () => [],
    realpath: (path) => packages.realPath(path),
  });

  function findFaults(path: string): PluginFault[] {
    const syntax = service.getSyntacticDiagnostics(path);
    const found = syntax.length > 0 ? syntax : service.getSemanticDiagnostics(path);
    const faults = found.slice(0, maxFaults).map((each) => describe(path, each, syntax.length > 0));
    // The daemon's own zod has no types here: what they would be is no fault of a plugin.
    return faults.filter(({ message }) => !message.includes(`'"zod*"'`));
  }

  function findFixes(fault: PluginFault, fixNames: readonly string[]): CodeFix[] {
    const { file, start, length, code } = fault;
    const program = fixNames.includes(nearMemberFix) ? service.getProgram() : undefined;
    const near = program === undefined ? [] : findNearMembers(program, fault);
    const offered = service.getCodeFixesAtPosition(file, start, start + length, [code], format, preferences);
    const own = offered.flatMap(({ fixName, description, changes, commands }) => {
      const [change] = changes;
      if (!fixNames.includes(fixName) || commands !== undefined || change === undefined || changes.length > 1) return [];
      if (change.isNewFile || !files.has(change.fileName) || change.textChanges.length > maxEdits) return [];
      const edits = change.textChanges.map(({ span, newText }) => ({ start: span.start, length: span.length, newText }));
      return [{ fixName, description, fault, file: change.fileName, edits: edits.sort((a, b) => b.start - a.start) }];
    });
    return own.some(({ fixName }) => fixName === 'spelling') ? own : [...own, ...near];
  }

  return ({ files: given, packageDirs, fixNames = [], declarations = false }) => {
    version++;
    files.clear();
    folders.clear();
    for (const { name, text } of given) {
      files.set(name, ts.ScriptSnapshot.fromString(text));
      for (let folder = dirname(name); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
    }
    packages = typeFiles.openPackages(packageDirs);
    const faults = given.flatMap(({ name }) => (isCode(name) ? findFaults(name) : [])).slice(0, maxFaults);
    const fixes = fixNames.length === 0 ? [] : faults.slice(0, maxFixedFaults).flatMap((fault) => findFixes(fault, fixNames));
    const program = declarations ? service.getProgram() : undefined;
    return {
      faults,
      fixes: fixes.slice(0, maxFixes),
      declarations: program === undefined ? [] : quoteDeclarations(program, faults, typeFiles.libFolder),
    };
  };
}

/** Counts what the parser alone says against each variant of a text. */
export function countSyntaxFaults({ name, text, variants }: ParseRequest): number[] {
  return variants.map((edits) => {
    const changed = edits.reduce((before, { start, length, newText }) => {
      return before.slice(0, start) + newText + before.slice(start + length);
    }, text);
    const faults: unknown = Reflect.get(ts.createSourceFile(name, changed, ts.ScriptTarget.ES2023), 'parseDiagnostics');
    return Array.isArray(faults) ? faults.length : 0;
  });
}

const format: ts.FormatCodeSettings = { ...ts.getDefaultFormatCodeSettings('\n'), indentSize: 2 };
const preferences: ts.UserPreferences = {
  includePackageJsonAutoImports: 'off',
  importModuleSpecifierPreference: 'relative',
  allowIncompleteCompletions: false,
};

function isCode(name: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(name);
}

function optionsOf(): ts.CompilerOptions {
  return {
    target: ts.ScriptTarget.ES2023,
    // What a worker of the web has comes nearest to the sandbox: no page, no window.
    lib: ['lib.es2023.d.ts', 'lib.webworker.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    paths: { hotcell: [`${typingsFolder}/plugin.ts`, `${typingsFolder}/plugin.d.ts`] },
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    allowJs: true,
    checkJs: true,
    maxNodeModuleJsDepth: 0,
    jsx: ts.JsxEmit.Preserve,
    strict: true,
    noImplicitAny: false,
    useUnknownInCatchVariables: false,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  };
}

function describe(file: string, diagnostic: ts.Diagnostic, isSyntax: boolean): PluginFault {
  const { file: source, start = 0, length = 0, code, messageText } = diagnostic;
  const { line, character } = source?.getLineAndCharacterOfPosition(start) ?? { line: 0, character: 0 };
  const message = ts.flattenDiagnosticMessageText(messageText, '\n').slice(0, maxMessageChars);
  return { file, line: line + 1, column: character + 1, code, message, start, length, isSyntax };
}
