import ts from 'typescript';
import type { PluginFault, QuotedType } from './check-types.ts';

const maxQuoted = 8;
const maxQuotedChars = 1500;
const maxFaults = 5;

/** The declarations of what the errors speak of: of the plugin's own types, of the plugin API and of packages, not of the language. */
export function quoteDeclarations(program: ts.Program, faults: readonly PluginFault[], libFolder: string): QuotedType[] {
  const checker = program.getTypeChecker();
  const quoted = new Map<string, string>();
  for (const fault of faults.filter(({ isSyntax }) => !isSyntax).slice(0, maxFaults)) {
    const source = program.getSourceFile(fault.file);
    if (source === undefined) continue;
    for (const symbol of [...symbolsAt(checker, source, fault.start), ...symbolsNamed(checker, source, fault.message)]) {
      const declaration = symbol.declarations?.find((each) => !each.getSourceFile().fileName.startsWith(`${libFolder}/`));
      if (declaration === undefined || quoted.size >= maxQuoted || quoted.has(symbol.name)) continue;
      if (ts.isSourceFile(declaration) || symbol.name.startsWith('__')) continue;
      quoted.set(symbol.name, textOf(declaration));
    }
  }
  return [...quoted].map(([name, text]) => ({ name, text }));
}

/** What the expression at a place is: for `context.kv.gett` the type of `context.kv`. */
function symbolsAt(checker: ts.TypeChecker, source: ts.SourceFile, start: number): ts.Symbol[] {
  let node: ts.Node = source;
  for (let inner: ts.Node | undefined = source; inner !== undefined; inner = childAt(inner, source, start)) node = inner;
  // A comment stands in no node.
  if (node === source) return [];
  const { parent } = node;
  const around = parent && ts.isPropertyAccessExpression(parent) ? parent.expression : node;
  const type = checker.getTypeAtLocation(around);
  const contextual = ts.isExpression(node) ? checker.getContextualType(node) : undefined;
  return [type.aliasSymbol, type.getSymbol(), contextual?.aliasSymbol, contextual?.getSymbol()].filter(
    (symbol) => symbol !== undefined,
  );
}

function childAt(node: ts.Node, source: ts.SourceFile, position: number): ts.Node | undefined {
  return ts.forEachChild(node, (child) => (child.getStart(source) <= position && position < child.getEnd() ? child : undefined));
}

/** Names in quotes that mean something where the error stands. */
function symbolsNamed(checker: ts.TypeChecker, source: ts.SourceFile, message: string): ts.Symbol[] {
  const names = new Set(Array.from(message.matchAll(/'([\p{ID_Start}$_][\p{ID_Continue}$]*)/gu), ([, name]) => name));
  return checker
    .getSymbolsInScope(source, ts.SymbolFlags.Type | ts.SymbolFlags.Value | ts.SymbolFlags.Alias)
    .filter(({ name }) => names.has(name))
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol));
}

function textOf(declaration: ts.Node): string {
  const text = declaration.getText();
  return text.length <= maxQuotedChars ? text : `${text.slice(0, maxQuotedChars)} …`;
}
