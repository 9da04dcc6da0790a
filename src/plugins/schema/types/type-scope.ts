import type { TSEnumDeclaration, TSInterfaceDeclaration, TSType, TSTypeReference } from 'oxc-parser';
import type { JsonSchema } from '../../../units/tool-manifest.ts';
import type { Found, ModuleGraph } from '../module-graph.ts';
import type { ModuleIndex, TypeDeclaration } from '../module-index.ts';

/** Where a type stands: its module, and what the type parameters around it stand for. */
export interface TypeScope {
  readonly module: ModuleIndex;
  readonly parameters: ReadonlyMap<string, ScopedType>;
}

/** A type and where it stands. */
export interface ScopedType {
  readonly type: TSType;
  readonly scope: TypeScope;
}

/** Reads types as schemas; what is made of another type (its keys, a part of it) is made of the schema of that. */
export interface TypeReader {
  readonly graph: ModuleGraph;
  /** What cannot be said becomes `{}` with a warning. */
  toSchema(type: TSType, scope: TypeScope): JsonSchema;
  /** Notes a type that was not understood, and accepts anything in its place. */
  warn(type: { readonly start: number; readonly end: number }, scope: TypeScope, reason?: string): JsonSchema;
  /** Runs `read` unless `key` is being read already further out, as in a type that refers to itself. */
  guarded<Result>(key: object, read: () => Result): Result | undefined;
}

/** What a type name stands for. `node` identifies the declaration. */
export type ReferenceTarget =
  | { readonly kind: 'alias'; readonly node: object; readonly type: TSType; readonly scope: TypeScope }
  | {
      readonly kind: 'interface';
      readonly node: object;
      readonly declarations: readonly TSInterfaceDeclaration[];
      readonly scopeOf: (declaration: TSInterfaceDeclaration) => TypeScope;
    }
  | { readonly kind: 'enum'; readonly declarations: readonly TSEnumDeclaration[] };

/** Finds the declaration that a type reference names: a type parameter, a type of the module, or an imported one. */
export function resolveReference(type: TSTypeReference, scope: TypeScope, reader: TypeReader): ReferenceTarget | undefined {
  const { typeName } = type;
  if (typeName.type === 'Identifier') {
    const parameter = scope.parameters.get(typeName.name);
    if (parameter) return { kind: 'alias', node: parameter, ...parameter };
    return toTarget(reader.graph.findType(scope.module, typeName.name), type.typeArguments?.params ?? [], scope);
  }
  if (typeName.type !== 'TSQualifiedName' || typeName.left.type !== 'Identifier') return undefined;
  const imported = scope.module.imports.get(typeName.left.name);
  if (imported?.name !== '*') return undefined;
  const found = reader.graph.findExportedType(scope.module, imported.source, typeName.right.name);
  return toTarget(found, type.typeArguments?.params ?? [], scope);
}

/** The target of a found declaration. Declarations of one name merge, as in TypeScript, when they are of one kind. */
export function toTarget(
  found: Found<readonly TypeDeclaration[]> | undefined,
  given: readonly TSType[],
  use: TypeScope,
): ReferenceTarget | undefined {
  const first = found?.node[0];
  if (!found || !first) return undefined;
  const { module } = found;
  switch (first.type) {
    case 'TSTypeAliasDeclaration': {
      const scope = bindParameters(first.typeParameters?.params ?? [], given, use, module);
      return { kind: 'alias', node: first, type: first.typeAnnotation, scope };
    }
    case 'TSInterfaceDeclaration': {
      const declarations = found.node.filter((node) => node.type === 'TSInterfaceDeclaration');
      const scopeOf = (declaration: TSInterfaceDeclaration) =>
        bindParameters(declaration.typeParameters?.params ?? [], given, use, module);
      return { kind: 'interface', node: first, declarations, scopeOf };
    }
    case 'TSEnumDeclaration':
      return { kind: 'enum', declarations: found.node.filter((node) => node.type === 'TSEnumDeclaration') };
  }
}

/** The arguments of a generic type, bound to its parameters. */
function bindParameters(
  declared: ReadonlyArray<{ readonly name: { readonly name: string }; readonly default: TSType | null }>,
  given: readonly TSType[],
  use: TypeScope,
  declaration: ModuleIndex,
): TypeScope {
  const parameters = new Map<string, ScopedType>();
  const scope: TypeScope = { module: declaration, parameters };
  for (const [position, parameter] of declared.entries()) {
    const type = given[position];
    if (type) parameters.set(parameter.name.name, { type, scope: use });
    else if (parameter.default) parameters.set(parameter.name.name, { type: parameter.default, scope });
  }
  return scope;
}
