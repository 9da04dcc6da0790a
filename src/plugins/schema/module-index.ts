import type {
  ArrowFunctionExpression,
  Comment,
  ExportNamedDeclaration,
  Expression,
  Function as FunctionNode,
  ImportDeclaration,
  ModuleExportName,
  Program,
  Statement,
  TSEnumDeclaration,
  TSInterfaceDeclaration,
  TSTypeAliasDeclaration,
} from 'oxc-parser';

/** A declaration that a type name may stand for. */
export type TypeDeclaration = TSInterfaceDeclaration | TSTypeAliasDeclaration | TSEnumDeclaration;

/** Something that a value name may stand for. */
export type ValueNode = Expression | FunctionNode | ArrowFunctionExpression;

/** A name of another module. `*` is the module itself. */
export interface ImportedName {
  readonly source: string;
  readonly name: string;
}

/** The top-level names of one module. */
export interface ModuleIndex {
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  readonly types: Map<string, TypeDeclaration[]>;
  readonly values: Map<string, ValueNode>;
  readonly imports: Map<string, ImportedName>;
  /** Exported name to local name. */
  readonly exports: Map<string, string>;
  readonly reexports: Map<string, ImportedName>;
  readonly starExports: string[];
  /** The default export, or what `module.exports` is set to. */
  readonly main: ValueNode | undefined;
}

/** What of a module its statements are read into. */
type Names = Pick<ModuleIndex, 'types' | 'values' | 'imports' | 'exports' | 'reexports' | 'starExports'> & {
  main: ValueNode | undefined;
};

/** Lists what a parsed module declares, imports and exports at its top level. */
export function indexModule(path: string, text: string, program: Program, comments: readonly Comment[]): ModuleIndex {
  const index: Names = {
    types: new Map(),
    values: new Map(),
    imports: new Map(),
    exports: new Map(),
    reexports: new Map(),
    starExports: [],
    main: undefined,
  };
  for (const statement of program.body) indexStatement(statement, index);
  return { path, text, program, comments, ...index };
}

function indexStatement(statement: Program['body'][number], index: Names): void {
  switch (statement.type) {
    case 'ImportDeclaration':
      indexImport(statement, index);
      return;
    case 'ExportNamedDeclaration':
      indexExport(statement, index);
      return;
    case 'ExportAllDeclaration':
      if (statement.exported)
        index.reexports.set(nameOfExport(statement.exported), { source: statement.source.value, name: '*' });
      else index.starExports.push(statement.source.value);
      return;
    case 'ExportDefaultDeclaration':
      if (statement.declaration.type === 'TSInterfaceDeclaration') indexDeclaration(statement.declaration, index);
      else index.main = statement.declaration;
      return;
    case 'TSExportAssignment':
      index.main = statement.expression;
      return;
    case 'ExpressionStatement':
      indexAssignment(statement.expression, index);
      return;
    default:
      indexDeclaration(statement, index);
  }
}

/** Takes in a declaration and returns the names that it declares. */
function indexDeclaration(statement: Statement, index: Names): string[] {
  switch (statement.type) {
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
    case 'TSEnumDeclaration':
      index.types.set(statement.id.name, [...(index.types.get(statement.id.name) ?? []), statement]);
      return [statement.id.name];
    case 'FunctionDeclaration':
      if (!statement.id) return [];
      index.values.set(statement.id.name, statement);
      return [statement.id.name];
    case 'VariableDeclaration':
      return statement.declarations.flatMap(({ id, init }) => {
        if (id.type !== 'Identifier' || !init) return [];
        index.values.set(id.name, init);
        return [id.name];
      });
    default:
      return [];
  }
}

function indexImport(statement: ImportDeclaration, index: Names): void {
  for (const specifier of statement.specifiers) {
    const name =
      specifier.type === 'ImportSpecifier'
        ? nameOfExport(specifier.imported)
        : specifier.type === 'ImportDefaultSpecifier'
          ? 'default'
          : '*';
    index.imports.set(specifier.local.name, { source: statement.source.value, name });
  }
}

function indexExport(statement: ExportNamedDeclaration, index: Names): void {
  if (statement.declaration) {
    for (const name of indexDeclaration(statement.declaration, index)) index.exports.set(name, name);
    return;
  }
  for (const { local, exported } of statement.specifiers) {
    if (statement.source)
      index.reexports.set(nameOfExport(exported), { source: statement.source.value, name: nameOfExport(local) });
    else index.exports.set(nameOfExport(exported), nameOfExport(local));
  }
  const main = index.exports.get('default');
  if (main !== undefined) index.main = index.values.get(main) ?? index.main;
}

/** `module.exports = x`, `module.exports.y = x`, `exports.y = x`. */
function indexAssignment(expression: Expression, index: Names): void {
  if (expression.type !== 'AssignmentExpression' || expression.operator !== '=') return;
  const { left, right } = expression;
  if (left.type !== 'MemberExpression' || left.computed || left.property.type !== 'Identifier') return;
  const key = left.property.name;
  if (left.object.type === 'Identifier' && left.object.name === 'module' && key === 'exports') {
    index.main = right;
  } else if (isExportsObject(left.object)) {
    if (key === 'default') index.main = right;
    else {
      index.values.set(`exports.${key}`, right);
      index.exports.set(key, `exports.${key}`);
    }
  }
}

function isExportsObject(node: Expression): boolean {
  if (node.type === 'Identifier') return node.name === 'exports';
  return (
    node.type === 'MemberExpression' &&
    node.object.type === 'Identifier' &&
    node.object.name === 'module' &&
    node.property.type === 'Identifier' &&
    node.property.name === 'exports'
  );
}

/** The text of an exported or imported name. */
export function nameOfExport(name: ModuleExportName): string {
  return name.type === 'Literal' ? name.value : name.name;
}
