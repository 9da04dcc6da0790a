import { isObject } from '../../config/json-object.ts';

/** Says the keywords that changed after draft-07 (and OpenAPI's `nullable`) in the words of 2020-12. Shallow; copies. */
export function modernizeKeywords(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const modern: Record<string, unknown> = Object.assign(Object.create(null), schema);
  modernizeItems(modern);
  modernizeDependencies(modern);
  modernizeBound(modern, 'minimum', 'exclusiveMinimum');
  modernizeBound(modern, 'maximum', 'exclusiveMaximum');
  if (modern.nullable === true && typeof modern.type === 'string') modern.type = [modern.type, 'null'];
  return modern;
}

function modernizeItems(schema: Record<string, unknown>): void {
  if (!Array.isArray(schema.items)) return;
  schema.prefixItems = schema.items;
  delete schema.items;
  if (schema.additionalItems !== undefined) schema.items = schema.additionalItems;
}

function modernizeDependencies(schema: Record<string, unknown>): void {
  const dependencies = schema.dependencies;
  if (!isObject(dependencies)) return;
  const required = Object.entries(dependencies).filter(([, value]) => Array.isArray(value));
  const schemas = Object.entries(dependencies).filter(([, value]) => !Array.isArray(value));
  if (required.length > 0) schema.dependentRequired ??= Object.fromEntries(required);
  if (schemas.length > 0) schema.dependentSchemas ??= Object.fromEntries(schemas);
}

/** Draft-04 wrote `minimum: 0, exclusiveMinimum: true`. */
function modernizeBound(schema: Record<string, unknown>, bound: string, exclusive: string): void {
  if (typeof schema[exclusive] !== 'boolean') return;
  if (schema[exclusive] === true && schema[bound] !== undefined) {
    schema[exclusive] = schema[bound];
    delete schema[bound];
  } else delete schema[exclusive];
}
