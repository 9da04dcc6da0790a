import { dirname, join } from 'node:path';
import ts from 'typescript';
import type { RestoreRequest, TextEdit, TypedFile } from './check-types.ts';

/** A statement of a module, or the check, with what it refers to. */
interface Part {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Keys of other parts. */
  readonly uses: ReadonlySet<string>;
}

/** The files of a plugin taken apart; `roots` are the statements of its entry that nobody has to refer to. */
interface Taken {
  readonly parts: ReadonlyMap<string, Part>;
  readonly roots: readonly string[];
}

const checkKey = 'check';
const endings = ['', '.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '/index.ts', '/index.js'];

/**
 * Puts a check of a plugin, and what nothing but the check refers to, back as it was: what is checked stays changed. Answers the files
 * that differ from `after`, none when the check was left alone; undefined where it is not written in one place.
 */
export function restoreCheck({ entry, name, before, after }: RestoreRequest): TypedFile[] | undefined {
  const [old, now] = [takeApart(before, entry, name), takeApart(after, entry, name)];
  if (old === undefined || now === undefined) return undefined;
  const edits: (TextEdit & { readonly path: string })[] = [];
  for (const key of new Set([...partsOfCheck(old), ...partsOfCheck(now)])) {
    const [was, is] = [old.parts.get(key), now.parts.get(key)];
    if (was?.text === is?.text) continue;
    if (is !== undefined) edits.push({ path: is.path, start: is.start, length: is.end - is.start, newText: was?.text ?? '' });
    else if (was !== undefined)
      edits.push({ path: was.path, start: Number.MAX_SAFE_INTEGER, length: 0, newText: `\n${was.text}\n` });
  }
  const textOf = new Map(after.map((file) => [file.name, file.text]));
  for (const { path, start, length, newText } of edits.sort((a, b) => b.start - a.start)) {
    const text = textOf.get(path) ?? '';
    textOf.set(path, text.slice(0, start) + newText + text.slice(start + length));
  }
  const changed = new Set(edits.map(({ path }) => path));
  return [...textOf].filter(([path]) => changed.has(path)).map(([path, text]) => ({ name: path, text }));
}

/** The check, and what is reached from it alone. */
function partsOfCheck({ parts, roots }: Taken): string[] {
  const others = reach(parts, roots);
  return [...reach(parts, [checkKey])].filter((key) => !others.has(key));
}

function reach(parts: ReadonlyMap<string, Part>, from: readonly string[]): Set<string> {
  const seen = new Set(from);
  for (const key of seen) for (const used of parts.get(key)?.uses ?? []) seen.add(used);
  return seen;
}

function takeApart(files: readonly TypedFile[], entry: string, name: string): Taken | undefined {
  const sources = new Map(
    files.map((file) => [file.name, ts.createSourceFile(file.name, file.text, ts.ScriptTarget.ES2023, true)]),
  );
  const [check, ...others] = [...sources].flatMap(([path, source]) => findMembers(source, name, path === entry));
  if (check === undefined || others.length > 0) return undefined;
  const parts = new Map<string, Part>();
  const roots: string[] = [];
  for (const [path, source] of sources) {
    const keysByName = new Map<string, string>();
    const statements = source.statements.map((statement, index) => {
      const names = namesOf(statement);
      const key = statement === check ? checkKey : `${path} ${names.join() || index}`;
      for (const each of names) keysByName.set(each, key);
      if (path === entry && key !== checkKey && (names.length === 0 || isExported(statement))) roots.push(key);
      return { statement, key };
    });
    const take = (node: ts.Node, key: string, without?: ts.Node) => {
      const uses = [...identifiersIn(node, without)].flatMap((each) => keysByName.get(each) ?? []);
      const imported = modulesIn(node, without).flatMap((specifier) => partsOfModule(sources, path, specifier, node));
      const known = parts.get(key);
      const own = { path, start: node.getStart(source), end: node.getEnd(), text: node.getText(source) };
      // Overloads of a function are one part: from the first to the last.
      const joined = known === undefined ? own : { ...own, start: known.start, text: source.text.slice(known.start, own.end) };
      parts.set(key, { ...joined, uses: new Set([...(known?.uses ?? []), ...uses, ...imported]) });
    };
    for (const { statement, key } of statements) take(statement, key, check === statement ? undefined : check);
    if (check.getSourceFile() === source && !parts.has(checkKey)) take(check, checkKey);
  }
  return { parts, roots };
}

/** Where an object, a class or the entry itself has something of the name. */
function findMembers(source: ts.SourceFile, name: string, isEntry: boolean): ts.Node[] {
  const exported = source.statements.filter((statement) => isExported(statement) && namesOf(statement).includes(name));
  const found: ts.Node[] = isEntry ? exported : [];
  const visit = (node: ts.Node): void => {
    const isMember = ts.isObjectLiteralElementLike(node) || ts.isClassElement(node);
    if (isMember && node.name !== undefined && node.name.getText(source).replace(/^['"]|['"]$/g, '') === name) found.push(node);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  if (ts.isImportDeclaration(statement)) {
    const { importClause } = statement;
    const bindings = importClause?.namedBindings;
    const inner = bindings === undefined ? [] : ts.isNamespaceImport(bindings) ? [bindings] : [...bindings.elements];
    return [importClause?.name, ...inner.map(({ name }) => name)].flatMap((name) => (name === undefined ? [] : [name.text]));
  }
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isEnumDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

function boundNames(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : boundNames(element.name)));
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) && (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  );
}

/** Names that may refer to something of the module: rather too many than too few. */
function identifiersIn(node: ts.Node, without: ts.Node | undefined): Set<string> {
  const found = new Set<string>();
  const visit = (inner: ts.Node): void => {
    if (inner === without) return;
    if (ts.isIdentifier(inner) && !isNameOfMember(inner)) found.add(inner.text);
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
}

function isNameOfMember(node: ts.Identifier): boolean {
  const { parent } = node;
  const isMember = ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent);
  return isMember && parent.name === node;
}

/** Addresses from which a node imports. */
function modulesIn(node: ts.Node, without: ts.Node | undefined): string[] {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
    return node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier) ? [node.moduleSpecifier.text] : [];
  }
  const found: string[] = [];
  const visit = (inner: ts.Node): void => {
    if (inner === without) return;
    if (ts.isCallExpression(inner) && /^(?:import|require)$/.test(inner.expression.getText())) {
      for (const each of inner.arguments) if (ts.isStringLiteral(each)) found.push(each.text);
    }
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
}

/** What an import leads to: the statements that declare its names, and those that declare none; all where that is not certain. */
function partsOfModule(
  sources: ReadonlyMap<string, ts.SourceFile>,
  importer: string,
  specifier: string,
  node: ts.Node,
): string[] {
  if (!specifier.startsWith('.')) return [];
  const target = join(dirname(importer), specifier);
  const path = endings
    .flatMap((ending) => [target + ending, target.replace(/\.([cm]?)jsx?$/, '.$1ts') + ending])
    .find((each) => sources.has(each));
  const source = path === undefined ? undefined : sources.get(path);
  if (source === undefined) return [];
  const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : undefined;
  const wanted =
    bindings !== undefined && ts.isNamedImports(bindings)
      ? bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
      : undefined;
  const all = source.statements.map((statement, index) => ({
    names: namesOf(statement),
    key: `${path} ${namesOf(statement).join() || index}`,
  }));
  const isCertain = wanted?.every((name) => all.some(({ names }) => names.includes(name))) === true;
  return all
    .filter(({ names }) => !isCertain || names.length === 0 || names.some((name) => wanted?.includes(name)))
    .map(({ key }) => key);
}
