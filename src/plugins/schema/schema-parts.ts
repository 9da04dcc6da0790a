import type { JsonSchema } from '../../units/tool-manifest.ts';
import type { ObjectShape } from './types/type-scope.ts';

/** The schema of some literals, with their common type where they have one. */
export function enumSchema(literals: readonly unknown[]): JsonSchema {
  const values = [...new Set(literals)];
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  const [type] = types;
  const typed = types.size === 1 ? { type } : {};
  if (type === 'null' && types.size === 1) return { type };
  return values.length === 1 ? { ...typed, const: values[0] } : { ...typed, enum: values };
}

/** The schema of an object type. Keys that the type does not name are refused, as TypeScript refuses them in a literal. */
export function shapeToSchema(shape: ObjectShape): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, property] of shape.properties) {
    Object.defineProperty(properties, name, { value: property.schema, enumerable: true });
    if (!property.optional) required.push(name);
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: shape.rest ?? false,
  };
}
