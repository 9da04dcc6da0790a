import type { TSTupleElement, TSTupleType, TSType, TSUnionType } from 'oxc-parser';
import { isObject } from '../../../config/json-object.ts';
import type { JsonSchema } from '../../../units/tool-manifest.ts';
import { enumSchema, literalsIn } from './literals.ts';
import type { TypeReader, TypeScope } from './type-scope.ts';

/** A union: literals become one `enum`, the rest `anyOf`; `undefined` falls away, since JSON has none. */
export function schemaOfUnion(type: TSUnionType, scope: TypeScope, reader: TypeReader): JsonSchema {
  const members = type.types.filter((member) => !isUndefined(member));
  const literals: unknown[] = [];
  const schemas: JsonSchema[] = [];
  for (const member of members) {
    const schema = reader.toSchema(member, scope);
    const values = literalsIn(schema);
    if (values) literals.push(...values);
    else schemas.push(schema);
  }
  if (literals.length > 0) schemas.unshift(enumSchema(literals));
  const [only] = schemas;
  if (schemas.length === 1 && only) return only;
  return schemas.some((schema) => Object.keys(schema).length === 0) ? {} : { anyOf: schemas };
}

/** Whether a type is only `undefined` or `void`. */
function isUndefined(type: TSType): boolean {
  return type.type === 'TSUndefinedKeyword' || type.type === 'TSVoidKeyword';
}

/** Whether a property of this type may be left out. */
export function allowsUndefined(type: TSType): boolean {
  return isUndefined(type) || (type.type === 'TSUnionType' && type.types.some(isUndefined));
}

/** A tuple: fixed places first, then what a rest element repeats. */
export function schemaOfTuple(type: TSTupleType, scope: TypeScope, reader: TypeReader): JsonSchema {
  const fixed: JsonSchema[] = [];
  let required = 0;
  let rest: JsonSchema | undefined;
  for (const element of type.elementTypes) {
    const { type: inner, optional, repeated } = unwrapElement(element);
    if (repeated) rest = restItems(inner, scope, reader);
    else {
      fixed.push(reader.toSchema(inner, scope));
      if (!optional) required = fixed.length;
    }
  }
  if (fixed.length === 0) return { type: 'array', ...(rest ? { items: rest } : { maxItems: 0 }) };
  const bounds = { ...(required > 0 ? { minItems: required } : {}), ...(rest ? {} : { maxItems: fixed.length }) };
  return { type: 'array', prefixItems: fixed, items: rest ?? false, ...bounds };
}

function unwrapElement(element: TSTupleElement): { type: TSType; optional: boolean; repeated: boolean } {
  switch (element.type) {
    case 'TSNamedTupleMember': {
      const inner = unwrapElement(element.elementType);
      return { ...inner, optional: inner.optional || element.optional };
    }
    case 'TSOptionalType':
      return { type: element.typeAnnotation, optional: true, repeated: false };
    case 'TSRestType':
      return { ...unwrapElement(element.typeAnnotation), optional: true, repeated: true };
    default:
      return { type: element, optional: false, repeated: false };
  }
}

function restItems(type: TSType, scope: TypeScope, reader: TypeReader): JsonSchema {
  const { items } = reader.toSchema(type, scope);
  return isObject(items) ? items : {};
}
