import type { TSIndexedAccessType, TSType, TSTypeReference } from 'oxc-parser';
import type { JsonSchema } from '../../../units/tool-manifest.ts';
import type { ModuleGraph } from '../module-graph.ts';
import { enumSchema, shapeToSchema } from '../schema-parts.ts';
import { literalsOf } from './literal-types.ts';
import { shapeOf } from './object-shapes.ts';
import { resolveReference } from './type-references.ts';
import type { TypeReader, TypeScope } from './type-scope.ts';
import { schemaOfTuple, schemaOfUnion } from './type-unions.ts';

// A level of an object type takes two or three readings.
const maxDepth = 60;
const maxTypes = 3000;
const maxWarnings = 10;

/** Makes a reader of types, bounded in depth and in number; `warnings` fills while it reads. */
export function createTypeReader(graph: ModuleGraph): TypeReader & { readonly warnings: string[] } {
  const warnings: string[] = [];
  const open = new Set<object>();
  let depth = 0;
  let types = 0;

  function bounded<Result>(read: () => Result, otherwise: Result): Result {
    types += 1;
    if (types > maxTypes || depth >= maxDepth) {
      note(types > maxTypes ? `The types are larger than ${maxTypes} parts` : `A type is nested too deeply`);
      return otherwise;
    }
    depth += 1;
    try {
      return read();
    } finally {
      depth -= 1;
    }
  }

  function note(reason: string): void {
    const warning = `${reason}: any value is accepted there.`;
    if (warnings.length < maxWarnings && !warnings.includes(warning)) warnings.push(warning);
  }

  const reader: TypeReader & { readonly warnings: string[] } = {
    graph,
    warnings,
    toSchema: (type, scope) => bounded(() => schemaOf(type, scope, reader), {}),
    toShape: (type, scope) => bounded(() => shapeOf(type, scope, reader), undefined),
    toLiterals: (type, scope) => bounded(() => literalsOf(type, scope, reader), undefined),
    warn(type, scope, reason = 'cannot be said in a schema') {
      reader.warnText(scope.module.text.slice(type.start, type.end), reason);
    },
    warnText(text, reason) {
      note(`Type "${excerpt(text)}" ${reason}`);
    },
    guarded(key, read) {
      if (open.has(key)) return undefined;
      open.add(key);
      try {
        return read();
      } finally {
        open.delete(key);
      }
    },
  };
  return reader;
}

function schemaOf(type: TSType, scope: TypeScope, reader: TypeReader): JsonSchema {
  switch (type.type) {
    case 'TSStringKeyword':
    case 'TSTemplateLiteralType':
      return { type: 'string' };
    case 'TSNumberKeyword':
      return { type: 'number' };
    case 'TSBooleanKeyword':
      return { type: 'boolean' };
    case 'TSNullKeyword':
      return { type: 'null' };
    case 'TSObjectKeyword':
      return { type: 'object' };
    case 'TSAnyKeyword':
    case 'TSUnknownKeyword':
      return {};
    case 'TSArrayType':
      return { type: 'array', items: reader.toSchema(type.elementType, scope) };
    case 'TSTupleType':
      return schemaOfTuple(type, scope, reader);
    case 'TSParenthesizedType':
      return reader.toSchema(type.typeAnnotation, scope);
    case 'TSUnionType':
      return schemaOfUnion(type, scope, reader);
    case 'TSTypeOperator':
      return type.operator === 'readonly' ? reader.toSchema(type.typeAnnotation, scope) : literalsOrWarn(type, scope, reader);
    case 'TSTypeReference':
      return schemaOfReference(type, scope, reader);
    case 'TSImportType':
    case 'TSTypeLiteral':
    case 'TSIntersectionType':
    case 'TSMappedType':
      return literalsOrShape(type, scope, reader);
    case 'TSIndexedAccessType':
      return schemaOfAccess(type, scope, reader);
    case 'TSLiteralType':
    case 'TSTypeQuery':
      return literalsOrWarn(type, scope, reader);
    default:
      reader.warn(type, scope);
      return {};
  }
}

function schemaOfReference(type: TSTypeReference, scope: TypeScope, reader: TypeReader): JsonSchema {
  const name = type.typeName.type === 'Identifier' ? type.typeName.name : '';
  const argument = type.typeArguments?.params[0];
  if ((name === 'Array' || name === 'ReadonlyArray') && argument) {
    return { type: 'array', items: reader.toSchema(argument, scope) };
  }
  if ((name === 'Readonly' || name === 'NonNullable' || name === 'Required') && argument && !reader.toShape(argument, scope)) {
    return reader.toSchema(argument, scope);
  }
  const target = resolveReference(type, scope, reader);
  if (target?.kind === 'alias') {
    const schema = reader.guarded(target.node, () => reader.toSchema(target.type, target.scope));
    if (schema === undefined) reader.warn(type, scope, 'refers to itself');
    return schema ?? {};
  }
  if (target?.kind === 'interface') {
    const shape = reader.toShape(type, scope);
    if (!shape) reader.warn(type, scope, 'refers to itself');
    return shape ? shapeToSchema(shape) : {};
  }
  return literalsOrShape(type, scope, reader);
}

/** `T['key']` and `T[number]`. */
function schemaOfAccess(type: TSIndexedAccessType, scope: TypeScope, reader: TypeReader): JsonSchema {
  const { objectType, indexType } = type;
  const key =
    indexType.type === 'TSLiteralType' && indexType.literal.type === 'Literal' ? String(indexType.literal.value) : undefined;
  const property = key === undefined ? undefined : reader.toShape(objectType, scope)?.properties.get(key);
  if (property) return property.schema;
  if (indexType.type === 'TSNumberKeyword' && objectType.type !== 'TSTypeQuery' && objectType.type !== 'TSParenthesizedType') {
    const { items } = reader.toSchema(objectType, scope);
    if (typeof items === 'object' && items !== null && !Array.isArray(items)) return { ...items };
  }
  return literalsOrWarn(type, scope, reader);
}

function literalsOrShape(type: TSType, scope: TypeScope, reader: TypeReader): JsonSchema {
  const shape = reader.toShape(type, scope);
  return shape ? shapeToSchema(shape) : literalsOrWarn(type, scope, reader);
}

function literalsOrWarn(type: TSType, scope: TypeScope, reader: TypeReader): JsonSchema {
  const literals = reader.toLiterals(type, scope);
  if (literals !== undefined && literals.length > 0) return enumSchema(literals);
  reader.warn(type, scope);
  return {};
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
