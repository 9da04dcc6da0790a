import type { Expression, TSEnumDeclaration, TSType } from 'oxc-parser';
import type { JsonSchema } from '../../../units/tool-manifest.ts';
import { keyName } from '../walk-nodes.ts';
import type { TypeReader, TypeScope } from './type-scope.ts';

const maxLiterals = 500;

/** The schema of some literals, with their common type where they have one. */
export function enumSchema(literals: readonly unknown[]): JsonSchema {
  const values = [...new Set(literals)];
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  const [type] = types;
  const typed = types.size === 1 ? { type } : {};
  if (type === 'null' && types.size === 1) return { type };
  return values.length === 1 ? { ...typed, const: values[0] } : { ...typed, enum: values };
}

/** The literals of a schema that `enumSchema` made; undefined for one that allows more. */
export function literalsIn(schema: JsonSchema): readonly unknown[] | undefined {
  if (schema.type === 'null') return [null];
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

/** The value of a literal expression; undefined for everything else. */
export function literalValue(node: Expression): string | number | boolean | null | undefined {
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

/** The values of an enum; undefined where one is not written out. */
export function enumValues(declarations: readonly TSEnumDeclaration[]): readonly unknown[] | undefined {
  const values: unknown[] = [];
  for (const declaration of declarations) {
    let next: number | undefined = 0;
    for (const member of declaration.body.members) {
      const value: unknown = member.initializer ? literalValue(member.initializer) : next;
      if (value === undefined || values.length >= maxLiterals) return undefined;
      values.push(value);
      next = typeof value === 'number' ? value + 1 : undefined;
    }
  }
  return values;
}

/** What `typeof NAME` means as a list or a table of literals: by position or key; undefined for another type or value. */
export function queriedEntries(type: TSType, scope: TypeScope, reader: TypeReader): Map<unknown, unknown> | undefined {
  const value = queriedValue(type, scope, reader);
  if (value?.type !== 'ArrayExpression' && value?.type !== 'ObjectExpression') return undefined;
  const entries = new Map<unknown, unknown>();
  if (value.type === 'ArrayExpression') {
    for (const [position, element] of value.elements.entries())
      entries.set(position, element && element.type !== 'SpreadElement' ? literalValue(element) : undefined);
  } else {
    for (const property of value.properties) {
      const name = property.type === 'Property' && !property.computed ? keyName(property.key) : undefined;
      if (property.type !== 'Property' || name === undefined) return undefined;
      entries.set(name, literalValue(property.value));
    }
  }
  return entries.size > maxLiterals ? undefined : entries;
}

/** The expression that `typeof NAME` is about. */
export function queriedValue(type: TSType, scope: TypeScope, reader: TypeReader): Expression | undefined {
  if (type.type === 'TSParenthesizedType') return queriedValue(type.typeAnnotation, scope, reader);
  if (type.type !== 'TSTypeQuery' || type.exprName.type !== 'Identifier') return undefined;
  let node = reader.graph.findValue(scope.module, type.exprName.name)?.node;
  while (node?.type === 'TSAsExpression' || node?.type === 'TSSatisfiesExpression') node = node.expression;
  return node?.type === 'FunctionDeclaration' ? undefined : node;
}
