import type { Expression, TSEnumDeclaration, TSIndexedAccessType, TSType, TSTypeReference } from 'oxc-parser';
import { resolveReference } from './type-references.ts';
import type { LiteralValue, TypeReader, TypeScope } from './type-scope.ts';

const maxLiterals = 500;

/** Reads a type that stands for nothing but literals: `'a' | 'b'`, an enum, `keyof T`, `(typeof LIST)[number]`, … */
export function literalsOf(type: TSType, scope: TypeScope, reader: TypeReader): readonly LiteralValue[] | undefined {
  switch (type.type) {
    case 'TSLiteralType': {
      const value = literalValue(type.literal);
      return value === undefined ? undefined : [value];
    }
    case 'TSNullKeyword':
      return [null];
    case 'TSParenthesizedType':
      return reader.toLiterals(type.typeAnnotation, scope);
    case 'TSUnionType':
      return concat(
        type.types.filter((member) => member.type !== 'TSUndefinedKeyword').map((member) => reader.toLiterals(member, scope)),
      );
    case 'TSTypeReference':
      return literalsOfReference(type, scope, reader);
    case 'TSTypeOperator':
      return type.operator === 'keyof' ? keysOf(type.typeAnnotation, scope, reader) : undefined;
    case 'TSIndexedAccessType':
      return literalsOfAccess(type, scope, reader);
    case 'TSTypeQuery': {
      const value = queriedValue(type, scope, reader);
      const literal = value && literalValue(value);
      return literal === undefined ? undefined : [literal];
    }
    default:
      return undefined;
  }
}

/** The value of a literal expression; undefined for everything else. */
export function literalValue(node: Expression): LiteralValue | undefined {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ||
        typeof node.value === 'number' ||
        typeof node.value === 'boolean' ||
        node.value === null
        ? node.value
        : undefined;
    case 'TemplateLiteral':
      return node.expressions.length === 0 ? (node.quasis[0]?.value.cooked ?? undefined) : undefined;
    case 'UnaryExpression': {
      const value = literalValue(node.argument);
      return node.operator === '-' && typeof value === 'number' ? -value : undefined;
    }
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return literalValue(node.expression);
    default:
      return undefined;
  }
}

function literalsOfReference(type: TSTypeReference, scope: TypeScope, reader: TypeReader): readonly LiteralValue[] | undefined {
  const name = type.typeName.type === 'Identifier' ? type.typeName.name : '';
  const [first, second] = type.typeArguments?.params ?? [];
  if ((name === 'Exclude' || name === 'Extract') && first && second) {
    const values = reader.toLiterals(first, scope);
    const others = reader.toLiterals(second, scope);
    return others && values?.filter((value) => others.includes(value) === (name === 'Extract'));
  }
  if (name === 'NonNullable' && first) return reader.toLiterals(first, scope)?.filter((value) => value !== null);
  const target = resolveReference(type, scope, reader);
  if (target?.kind === 'enum') return enumValues(target.declarations);
  if (target?.kind !== 'alias') return undefined;
  return reader.guarded(target.node, () => reader.toLiterals(target.type, target.scope));
}

function enumValues(declarations: readonly TSEnumDeclaration[]): readonly LiteralValue[] | undefined {
  const values: LiteralValue[] = [];
  for (const declaration of declarations) {
    let next: number | undefined = 0;
    for (const member of declaration.body.members) {
      const value: LiteralValue | undefined = member.initializer ? literalValue(member.initializer) : next;
      if (value === undefined || values.length >= maxLiterals) return undefined;
      values.push(value);
      next = typeof value === 'number' ? value + 1 : undefined;
    }
  }
  return values;
}

function keysOf(type: TSType, scope: TypeScope, reader: TypeReader): readonly LiteralValue[] | undefined {
  const value = type.type === 'TSTypeQuery' ? queriedValue(type, scope, reader) : undefined;
  if (value?.type === 'ObjectExpression') return objectEntries(value)?.map(([key]) => key);
  const shape = value ? undefined : reader.toShape(type, scope);
  return shape && !shape.rest ? [...shape.properties.keys()] : undefined;
}

/** `(typeof LIST)[number]`, `(typeof MAP)[keyof typeof MAP]`. */
function literalsOfAccess(type: TSIndexedAccessType, scope: TypeScope, reader: TypeReader): readonly LiteralValue[] | undefined {
  const object = type.objectType.type === 'TSParenthesizedType' ? type.objectType.typeAnnotation : type.objectType;
  if (object.type !== 'TSTypeQuery') return undefined;
  const value = queriedValue(object, scope, reader);
  if (value?.type === 'ArrayExpression' && type.indexType.type === 'TSNumberKeyword') {
    return concat(
      value.elements.map((element) => (element && element.type !== 'SpreadElement' ? asList(literalValue(element)) : undefined)),
    );
  }
  const keys = value?.type === 'ObjectExpression' ? reader.toLiterals(type.indexType, scope) : undefined;
  if (value?.type !== 'ObjectExpression' || !keys) return undefined;
  const entries = objectEntries(value)?.filter(([key]) => keys.includes(key));
  return entries && concat(entries.map(([, node]) => asList(literalValue(node))));
}

function queriedValue(
  type: Extract<TSType, { type: 'TSTypeQuery' }>,
  scope: TypeScope,
  reader: TypeReader,
): Expression | undefined {
  if (type.exprName.type !== 'Identifier') return undefined;
  const found = reader.graph.findValue(scope.module, type.exprName.name)?.node;
  if (!found || found.type === 'FunctionDeclaration') return undefined;
  return unwrap(found);
}

function unwrap(node: Expression): Expression {
  let inner = node;
  while (inner.type === 'TSAsExpression' || inner.type === 'TSSatisfiesExpression') inner = inner.expression;
  return inner;
}

function objectEntries(node: Extract<Expression, { type: 'ObjectExpression' }>): Array<[string, Expression]> | undefined {
  const entries: Array<[string, Expression]> = [];
  for (const property of node.properties) {
    if (property.type !== 'Property' || property.computed) return undefined;
    const { key } = property;
    const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : undefined;
    if (name === undefined) return undefined;
    entries.push([name, property.value]);
  }
  return entries;
}

function asList(value: LiteralValue | undefined): LiteralValue[] | undefined {
  return value === undefined ? undefined : [value];
}

function concat(lists: ReadonlyArray<readonly LiteralValue[] | undefined>): readonly LiteralValue[] | undefined {
  const all: LiteralValue[] = [];
  for (const list of lists) {
    if (list === undefined || all.length + list.length > maxLiterals) return undefined;
    all.push(...list);
  }
  return all;
}
