/** What tool files take of TypeBox: schemas as plain JSON Schema. Values are checked by the daemon, not here. */

type Json = Record<string, unknown>;

const optional = Symbol('optional');

const make =
  (base: Json) =>
  (options: Json = {}) => ({ ...base, ...options });

export const Type = {
  String: make({ type: 'string' }),
  Number: make({ type: 'number' }),
  Integer: make({ type: 'integer' }),
  Boolean: make({ type: 'boolean' }),
  Null: make({ type: 'null' }),
  Any: make({}),
  Unknown: make({}),
  Literal: (value: unknown, options: Json = {}) => ({ const: value, ...options }),
  Array: (items: unknown, options: Json = {}) => ({ type: 'array', items, ...options }),
  Union: (anyOf: readonly unknown[], options: Json = {}) => ({ anyOf, ...options }),
  Intersect: (allOf: readonly unknown[], options: Json = {}) => ({ allOf, ...options }),
  Tuple: (prefixItems: readonly unknown[], options: Json = {}) => ({ type: 'array', prefixItems, ...options }),
  Record: (_key: unknown, additionalProperties: unknown, options: Json = {}) => ({
    type: 'object',
    additionalProperties,
    ...options,
  }),
  Enum: (values: Json, options: Json = {}) => ({ enum: Object.values(values), ...options }),
  Unsafe: (schema: Json = {}) => schema,
  Optional: (schema: Json) => Object.defineProperty({ ...schema }, optional, { value: true }),
  Partial: (schema: Json) => ({ ...schema, required: [] }),
  Object(properties: Record<string, Json>, options: Json = {}) {
    const required = Object.keys(properties).filter((name) => !(optional in (properties[name] ?? {})));
    return { type: 'object', properties, ...(required.length > 0 ? { required } : {}), ...options };
  },
};

export function StringEnum(values: readonly string[], options: Json = {}): Json {
  return { type: 'string', enum: values, ...options };
}
