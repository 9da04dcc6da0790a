import ts from 'typescript';
import { findNearNames } from '../errors/near-names.ts';
import type { CodeFix, PluginFault } from './check-types.ts';

/** The name under which these are offered, beside the code fixes of TypeScript. */
export const nearMemberFix = 'nearMember';

const unknownMember: ReadonlySet<number> = new Set([2339, 2551]);
const unknownName: ReadonlySet<number> = new Set([2304, 2552, 18004]);
const maxNear = 3;

/** Names that are near to one that does not exist, where TypeScript itself names none: for it a short name with another letter is far. */
export function findNearMembers(program: ts.Program, fault: PluginFault): CodeFix[] {
  const source = program.getSourceFile(fault.file);
  const node = source && identifierAt(source, fault.start);
  if (source === undefined || node === undefined) return [];
  const checker = program.getTypeChecker();
  const names = unknownMember.has(fault.code)
    ? membersOf(checker, node)
    : unknownName.has(fault.code)
      ? namesOfFile(checker, node)
      : [];
  const { start, length, file } = fault;
  return findNearNames(node.text, names, maxNear)
    .filter((near) => near !== node.text && Math.abs(near.length - node.text.length) <= 1)
    .map((newText) => ({
      fixName: nearMemberFix,
      description: `Change spelling to '${newText}'`,
      fault,
      file,
      edits: [{ start, length, newText }],
    }));
}

function identifierAt(source: ts.SourceFile, start: number): ts.Identifier | undefined {
  const visit = (node: ts.Node): ts.Identifier | undefined =>
    ts.isIdentifier(node) && node.getStart(source) === start
      ? node
      : ts.forEachChild(node, (child) => (child.pos <= start && start < child.end ? visit(child) : undefined));
  return visit(source);
}

function membersOf(checker: ts.TypeChecker, { parent }: ts.Identifier): string[] {
  if (!ts.isPropertyAccessExpression(parent)) return [];
  const type = checker.getApparentType(checker.getTypeAtLocation(parent.expression));
  return checker.getPropertiesOfType(type).map(({ name }) => name);
}

/** What the file itself declares: a global of the language is hardly what was meant. */
function namesOfFile(checker: ts.TypeChecker, node: ts.Identifier): string[] {
  const source = node.getSourceFile();
  return checker
    .getSymbolsInScope(node, ts.SymbolFlags.Value | ts.SymbolFlags.Alias)
    .filter(({ declarations }) => declarations?.some((each) => each.getSourceFile() === source))
    .map(({ name }) => name);
}
