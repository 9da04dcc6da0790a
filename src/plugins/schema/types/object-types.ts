import type { TSIntersectionType, TSMappedType, TSSignature, TSType, TSTypeReference } from 'oxc-parser';
import { isObject } from '../../../config/json-object.ts';
import type { JsonSchema } from '../../../units/tool-manifest.ts';
import { keyName } from '../walk-nodes.ts';
import { findDocComment, tagsToKeywords } from './doc-comments.ts';
import { literalsIn } from './literals.ts';
import type { ReferenceTarget, TypeReader, TypeScope } from './type-scope.ts';
import { allowsUndefined } from './type-unions.ts';

/** An object type as its properties; `rest` is what other keys hold. */
interface ObjectShape {
  readonly properties: ReadonlyMap<string, { readonly schema: JsonSchema; readonly optional: boolean }>;
  readonly rest?: JsonSchema | undefined;
}

/** The schema of an object type. Keys that the type does not name are refused, as TypeScript refuses them in a literal. */
function shapeToSchema({ properties: shapes, rest }: ObjectShape): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, { schema, optional }] of shapes) {
    // One may be called __proto__.
    Object.defineProperty(properties, name, { value: schema, enumerable: true });
    if (!optional) required.push(name);
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: rest ?? false,
  };
}

/** What `shapeToSchema` made a schema of; undefined for any other. */
export function shapeIn({ type, properties, required, additionalProperties: rest }: JsonSchema): ObjectShape | undefined {
  if (type !== 'object' || !isObject(properties)) return undefined;
  const names = Array.isArray(required) ? required : [];
  const shapes = Object.entries(properties).flatMap(([name, schema]) =>
    isObject(schema) ? [[name, { schema, optional: !names.includes(name) }] as const] : [],
  );
  return { properties: new Map(shapes), rest: isObject(rest) ? rest : undefined };
}

/** `{ a: string }`, and what stands between the braces of an interface. */
export function schemaOfMembers(members: readonly TSSignature[], scope: TypeScope, reader: TypeReader): JsonSchema {
  const properties = new Map<string, { schema: JsonSchema; optional: boolean }>();
  let rest: JsonSchema | undefined;
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
    const doc = findDocComment(scope.module, member.start);
    const schema = {
      ...(type && reader.toSchema(type, scope)),
      ...(doc?.text && { description: doc.text }),
      ...(doc && tagsToKeywords(doc)),
    };
    properties.set(name, { schema, optional: member.optional || (type !== undefined && allowsUndefined(type)) });
  }
  return shapeToSchema({ properties, rest });
}

/** All declarations of one interface, with what they extend. */
export function schemaOfInterface(target: Extract<ReferenceTarget, { kind: 'interface' }>, reader: TypeReader): JsonSchema {
  const schemas = target.declarations.flatMap((declaration) => {
    const scope = target.scopeOf(declaration);
    const parents = declaration.extends.map((parent) => {
      const type = heritageType(parent);
      return type ? reader.toSchema(type, scope) : reader.warn(parent, scope, 'cannot be read');
    });
    return [...parents, schemaOfMembers(declaration.body.body, scope, reader)];
  });
  return mergeSchemas(schemas.filter((schema) => shapeIn(schema))) ?? {};
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

/** `A & B`; undefined where one of them is no object type. */
export function schemaOfIntersection(type: TSIntersectionType, scope: TypeScope, reader: TypeReader): JsonSchema | undefined {
  return mergeSchemas(type.types.map((member) => reader.toSchema(member, scope)));
}

function mergeSchemas(schemas: readonly JsonSchema[]): JsonSchema | undefined {
  const shapes = schemas.flatMap((schema) => shapeIn(schema) ?? []);
  if (shapes.length < schemas.length) return undefined;
  const properties = new Map(shapes.flatMap((shape) => [...shape.properties]));
  return shapeToSchema({ properties, rest: shapes.findLast(({ rest }) => rest !== undefined)?.rest });
}

/** `{ [K in 'a' | 'b']: T }`, also with `T[K]`; undefined where the keys are not known. */
export function schemaOfMapped(type: TSMappedType, scope: TypeScope, reader: TypeReader): JsonSchema | undefined {
  const value = type.typeAnnotation;
  if (type.nameType || !value) return undefined;
  if (type.constraint.type === 'TSStringKeyword')
    return shapeToSchema({ properties: new Map(), rest: reader.toSchema(value, scope) });
  const keys = literalsIn(reader.toSchema(type.constraint, scope));
  if (!keys) return undefined;
  const isAccess =
    value.type === 'TSIndexedAccessType' &&
    value.indexType.type === 'TSTypeReference' &&
    value.indexType.typeName.type === 'Identifier' &&
    value.indexType.typeName.name === type.key.name;
  const source = isAccess ? shapeIn(reader.toSchema(value.objectType, scope)) : undefined;
  if (isAccess && !source) return undefined;
  const schema = isAccess ? {} : reader.toSchema(value, scope);
  const isOptional = type.optional === true || type.optional === '+';
  const properties = keys.map((key) => {
    const from = source?.properties.get(String(key));
    const optional = isOptional || (type.optional !== '-' && (from?.optional ?? false));
    return [String(key), { schema: from?.schema ?? schema, optional }] as const;
  });
  return shapeToSchema({ properties: new Map(properties) });
}

/** `Partial<T>`, `Pick<T, K>`, `Record<K, V>` and their like; undefined for every other name, and where `T` is no object type. */
export function schemaOfUtility(
  name: string,
  [first, second]: readonly TSType[],
  scope: TypeScope,
  reader: TypeReader,
): JsonSchema | undefined {
  if (!first || !/^(?:Partial|Required|Pick|Omit|Record)$/.test(name)) return undefined;
  if (name === 'Record') return second && schemaOfRecord(first, second, scope, reader);
  const schema = reader.toSchema(first, scope);
  const shape = shapeIn(schema);
  if (name === 'Required' && !shape) return schema;
  if (name === 'Partial' || name === 'Required') {
    const properties = [...(shape?.properties ?? [])].map(
      ([property, { schema: each }]) => [property, { schema: each, optional: name === 'Partial' }] as const,
    );
    return shape && shapeToSchema({ ...shape, properties: new Map(properties) });
  }
  const keys = second && literalsIn(reader.toSchema(second, scope))?.map(String);
  const kept = [...(shape?.properties ?? [])].filter(([property]) => keys?.includes(property) === (name === 'Pick'));
  return shape && keys && shapeToSchema({ ...shape, properties: new Map(kept) });
}

function schemaOfRecord(keyType: TSType, valueType: TSType, scope: TypeScope, reader: TypeReader): JsonSchema {
  const schema = reader.toSchema(valueType, scope);
  const keys = literalsIn(reader.toSchema(keyType, scope));
  if (!keys) return shapeToSchema({ properties: new Map(), rest: schema });
  return shapeToSchema({ properties: new Map(keys.map((key) => [String(key), { schema, optional: false }])) });
}
