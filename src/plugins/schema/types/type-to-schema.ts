import type { TSImportType, TSIndexedAccessType, TSType, TSTypeReference } from 'oxc-parser';
import { isObject } from '../../../config/json-object.ts';
import type { JsonSchema } from '../../../units/tool-manifest.ts';
import type { ModuleGraph } from '../module-graph.ts';
import { enumSchema, enumValues, literalsIn, literalValue, queriedEntries, queriedValue } from './literals.ts';
import {
  schemaOfInterface,
  schemaOfIntersection,
  schemaOfMapped,
  schemaOfMembers,
  schemaOfUtility,
  shapeIn,
} from './object-types.ts';
import { type ReferenceTarget, resolveReference, type TypeReader, type TypeScope, toTarget } from './type-scope.ts';
import { schemaOfTuple, schemaOfUnion } from './type-unions.ts';

// A level that has a name takes two readings.
const maxDepth = 40;
const maxTypes = 3000;
const maxWarnings = 10;

/** Makes a reader of types, bounded in depth and in number; `warnings` fills while it reads. */
export function createTypeReader(graph: ModuleGraph): TypeReader & { readonly warnings: string[] } {
  const warnings: string[] = [];
  const open = new Set<object>();
  let depth = 0;
  let types = 0;
  let notes = 0;

  function note(reason: string): JsonSchema {
    notes += 1;
    const warning = `${reason}: any value is accepted there.`;
    if (warnings.length < maxWarnings && !warnings.includes(warning)) warnings.push(warning);
    return {};
  }

  const reader: TypeReader & { readonly warnings: string[] } = {
    graph,
    warnings,
    toSchema(type, scope) {
      types += 1;
      if (types > maxTypes) return note(`The types are larger than ${maxTypes} parts`);
      if (depth >= maxDepth) return note('A type is nested too deeply');
      depth += 1;
      const before = notes;
      try {
        // What is wrong with a part of it was said already.
        return schemaOf(type, scope, reader) ?? (notes > before ? {} : reader.warn(type, scope));
      } finally {
        depth -= 1;
      }
    },
    warn: ({ start, end }, scope, reason = 'cannot be said in a schema') =>
      note(`Type "${excerpt(scope.module.text.slice(start, end))}" ${reason}`),
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

/** The schema of a type; undefined where it cannot be said. */
function schemaOf(type: TSType, scope: TypeScope, reader: TypeReader): JsonSchema | undefined {
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
    case 'TSTypeLiteral':
      return schemaOfMembers(type.members, scope, reader);
    case 'TSTypeOperator':
      if (type.operator === 'readonly') return reader.toSchema(type.typeAnnotation, scope);
      return type.operator === 'keyof' ? literals(keysOf(type.typeAnnotation, scope, reader)) : undefined;
    case 'TSTypeReference':
      return schemaOfReference(type, scope, reader);
    case 'TSImportType':
      return schemaOfImport(type, scope, reader);
    case 'TSIntersectionType':
      return schemaOfIntersection(type, scope, reader);
    case 'TSMappedType':
      return schemaOfMapped(type, scope, reader);
    case 'TSIndexedAccessType':
      return schemaOfAccess(type, scope, reader);
    case 'TSLiteralType':
      return literals([literalValue(type.literal)]);
    case 'TSTypeQuery': {
      const value = queriedValue(type, scope, reader);
      return value && literals([literalValue(value)]);
    }
    default:
      return undefined;
  }
}

/** The schema of values that are all known. */
function literals(values: readonly unknown[] | undefined): JsonSchema | undefined {
  return values === undefined || values.length === 0 || values.includes(undefined) ? undefined : enumSchema(values);
}

function schemaOfReference(type: TSTypeReference, scope: TypeScope, reader: TypeReader): JsonSchema | undefined {
  const name = type.typeName.type === 'Identifier' ? type.typeName.name : '';
  const given = type.typeArguments?.params ?? [];
  const [first, second] = given;
  if ((name === 'Array' || name === 'ReadonlyArray') && first) return { type: 'array', items: reader.toSchema(first, scope) };
  const target = resolveReference(type, scope, reader);
  if (target) return schemaOfTarget(target, type, scope, reader);
  if (first === undefined) return undefined;
  if (name === 'Readonly') return reader.toSchema(first, scope);
  if (name === 'NonNullable') {
    const schema = reader.toSchema(first, scope);
    return literals(literalsIn(schema)?.filter((value) => value !== null)) ?? schema;
  }
  if ((name === 'Exclude' || name === 'Extract') && second) {
    const values = literalsIn(reader.toSchema(first, scope));
    const others = literalsIn(reader.toSchema(second, scope));
    return literals(others && values?.filter((value) => others.includes(value) === (name === 'Extract')));
  }
  return schemaOfUtility(name, given, scope, reader);
}

function schemaOfImport(type: TSImportType, scope: TypeScope, reader: TypeReader): JsonSchema | undefined {
  if (type.qualifier?.type !== 'Identifier') return undefined;
  const found = reader.graph.findExportedType(scope.module, type.source.value, type.qualifier.name);
  const target = toTarget(found, type.typeArguments?.params ?? [], scope);
  return target && schemaOfTarget(target, type, scope, reader);
}

function schemaOfTarget(target: ReferenceTarget, type: TSType, scope: TypeScope, reader: TypeReader): JsonSchema | undefined {
  if (target.kind === 'enum') return literals(enumValues(target.declarations));
  const schema = reader.guarded(target.node, () =>
    target.kind === 'alias' ? reader.toSchema(target.type, target.scope) : schemaOfInterface(target, reader),
  );
  return schema ?? reader.warn(type, scope, 'refers to itself');
}

function keysOf(type: TSType, scope: TypeScope, reader: TypeReader): readonly unknown[] | undefined {
  if (type.type === 'TSTypeQuery') {
    const entries = queriedEntries(type, scope, reader);
    return entries && [...entries.keys()].filter((key) => typeof key === 'string');
  }
  const shape = shapeIn(reader.toSchema(type, scope));
  return shape && !shape.rest ? [...shape.properties.keys()] : undefined;
}

/** `T['key']`, `T[number]`, `(typeof LIST)[number]`, `(typeof MAP)[keyof typeof MAP]`. */
function schemaOfAccess({ objectType, indexType }: TSIndexedAccessType, scope: TypeScope, reader: TypeReader) {
  const isEach = indexType.type === 'TSNumberKeyword';
  if (queriedValue(objectType, scope, reader) !== undefined) {
    const entries = [...(queriedEntries(objectType, scope, reader) ?? [])];
    const keys = isEach ? undefined : (literalsIn(reader.toSchema(indexType, scope)) ?? []);
    const wanted = entries.filter(([key]) => (keys === undefined ? typeof key === 'number' : keys.includes(key)));
    return literals(wanted.map(([, value]) => value));
  }
  const schema = reader.toSchema(objectType, scope);
  if (isEach) return isObject(schema.items) ? { ...schema.items } : undefined;
  const [key, ...others] = literalsIn(reader.toSchema(indexType, scope)) ?? [];
  return others.length > 0 ? undefined : shapeIn(schema)?.properties.get(String(key))?.schema;
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}
