import type { TSImportType, TSIntersectionType, TSMappedType, TSSignature, TSType, TSTypeReference } from 'oxc-parser';
import type { ModuleIndex } from '../module-index.ts';
import { keyName } from '../walk-nodes.ts';
import { findDocComment, tagsToKeywords } from './doc-comments.ts';
import { type ReferenceTarget, resolveReference, toTarget } from './type-references.ts';
import type { ObjectShape, PropertyShape, TypeReader, TypeScope } from './type-scope.ts';
import { allowsUndefined } from './type-unions.ts';
import { isUtilityName, shapeOfUtility } from './utility-types.ts';

/** Reads an object type as its properties: written out, an interface, an intersection, a mapped or a utility type. */
export function shapeOf(type: TSType, scope: TypeScope, reader: TypeReader): ObjectShape | undefined {
  switch (type.type) {
    case 'TSTypeLiteral':
      return shapeOfMembers(type.members, scope, reader);
    case 'TSParenthesizedType':
      return reader.toShape(type.typeAnnotation, scope);
    case 'TSIntersectionType':
      return shapeOfIntersection(type, scope, reader);
    case 'TSMappedType':
      return shapeOfMapped(type, scope, reader);
    case 'TSImportType':
      return shapeOfImport(type, scope, reader);
    case 'TSTypeReference':
      return shapeOfReference(type, scope, reader);
    default:
      return undefined;
  }
}

function shapeOfMembers(members: readonly TSSignature[], scope: TypeScope, reader: TypeReader): ObjectShape {
  const properties = new Map<string, PropertyShape>();
  let rest: ObjectShape['rest'];
  for (const member of members) {
    if (member.type === 'TSIndexSignature') {
      rest = reader.toSchema(member.typeAnnotation.typeAnnotation, scope);
      continue;
    }
    // Methods and call signatures cannot come in as JSON.
    if (member.type !== 'TSPropertySignature') continue;
    const name = member.computed ? undefined : keyName(member.key);
    if (name === undefined) continue;
    const type = member.typeAnnotation?.typeAnnotation;
    const schema = type ? reader.toSchema(type, scope) : {};
    const optional = member.optional || (type !== undefined && allowsUndefined(type));
    properties.set(name, { schema: { ...schema, ...docKeywords(scope.module, member.start) }, optional });
  }
  return rest ? { properties, rest } : { properties };
}

function docKeywords(module: ModuleIndex, offset: number): Record<string, unknown> {
  const doc = findDocComment(module, offset);
  if (!doc) return {};
  return { ...(doc.text ? { description: doc.text } : {}), ...tagsToKeywords(doc) };
}

function shapeOfReference(type: TSTypeReference, scope: TypeScope, reader: TypeReader): ObjectShape | undefined {
  const target = resolveReference(type, scope, reader);
  if (target) return shapeOfTarget(target, reader);
  const name = type.typeName.type === 'Identifier' ? type.typeName.name : '';
  return isUtilityName(name) ? shapeOfUtility(name, type.typeArguments?.params ?? [], scope, reader) : undefined;
}

function shapeOfImport(type: TSImportType, scope: TypeScope, reader: TypeReader): ObjectShape | undefined {
  if (type.qualifier?.type !== 'Identifier') return undefined;
  const found = reader.graph.findExportedType(scope.module, type.source.value, type.qualifier.name);
  const target = toTarget(found, type.typeArguments?.params ?? [], scope);
  return target && shapeOfTarget(target, reader);
}

function shapeOfTarget(target: ReferenceTarget, reader: TypeReader): ObjectShape | undefined {
  switch (target.kind) {
    case 'enum':
      return undefined;
    case 'alias':
      return reader.guarded(target.node, () => reader.toShape(target.type, target.scope));
    case 'interface':
      return reader.guarded(target.node, () => shapeOfInterface(target, reader));
  }
}

function shapeOfInterface(target: Extract<ReferenceTarget, { kind: 'interface' }>, reader: TypeReader): ObjectShape {
  const shapes: ObjectShape[] = [];
  for (const declaration of target.declarations) {
    const scope = target.scopeOf(declaration);
    for (const parent of declaration.extends) {
      const type = heritageType(parent);
      const shape = type && reader.toShape(type, scope);
      if (shape) shapes.push(shape);
      else reader.warnText(scope.module.text.slice(parent.start, parent.end), 'cannot be read');
    }
    shapes.push(shapeOfMembers(declaration.body.body, scope, reader));
  }
  return mergeShapes(shapes);
}

/** `extends A<B>` names a type by an expression; as a reference it reads like any other. */
function heritageType(parent: {
  readonly expression: { readonly type: string; readonly start: number; readonly end: number };
  readonly typeArguments: TSTypeReference['typeArguments'];
  readonly start: number;
  readonly end: number;
}): TSTypeReference | undefined {
  const { expression } = parent;
  if (expression.type !== 'Identifier' || !('name' in expression) || typeof expression.name !== 'string') return undefined;
  const typeName = { type: 'Identifier' as const, name: expression.name, start: expression.start, end: expression.end };
  return { type: 'TSTypeReference', typeName, typeArguments: parent.typeArguments, start: parent.start, end: parent.end };
}

function shapeOfIntersection(type: TSIntersectionType, scope: TypeScope, reader: TypeReader): ObjectShape | undefined {
  const shapes: ObjectShape[] = [];
  for (const member of type.types) {
    const shape = reader.toShape(member, scope);
    if (!shape) return undefined;
    shapes.push(shape);
  }
  return mergeShapes(shapes);
}

function mergeShapes(shapes: readonly ObjectShape[]): ObjectShape {
  const properties = new Map<string, PropertyShape>();
  let rest: ObjectShape['rest'];
  for (const shape of shapes) {
    for (const [name, property] of shape.properties) properties.set(name, property);
    rest = shape.rest ?? rest;
  }
  return rest ? { properties, rest } : { properties };
}

/** `{ [K in 'a' | 'b']: T }`, also with `T[K]`. */
function shapeOfMapped(type: TSMappedType, scope: TypeScope, reader: TypeReader): ObjectShape | undefined {
  const value = type.typeAnnotation;
  const optional = type.optional === true || type.optional === '+';
  if (type.nameType || !value) return undefined;
  if (type.constraint.type === 'TSStringKeyword') return { properties: new Map(), rest: reader.toSchema(value, scope) };
  const keys = reader.toLiterals(type.constraint, scope);
  if (!keys) return undefined;
  const isAccess =
    value.type === 'TSIndexedAccessType' &&
    value.indexType.type === 'TSTypeReference' &&
    value.indexType.typeName.type === 'Identifier' &&
    value.indexType.typeName.name === type.key.name;
  const source = isAccess ? reader.toShape(value.objectType, scope) : undefined;
  if (isAccess && !source) return undefined;
  const schema = isAccess ? {} : reader.toSchema(value, scope);
  const properties = new Map<string, PropertyShape>();
  for (const key of keys) {
    const from = source?.properties.get(String(key));
    properties.set(String(key), {
      schema: from?.schema ?? schema,
      optional: optional || (type.optional !== '-' && (from?.optional ?? false)),
    });
  }
  return { properties };
}
