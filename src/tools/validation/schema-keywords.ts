import { isObject } from '../../config/json-object.ts';

/** Where the subschemas of a keyword stand, and whether they are applied to many places of a value. */
type Applicator = { readonly holds: 'schema' | 'list' | 'map'; readonly repeats: boolean };

/** Keywords that hold subschemas. Definitions are not among them: they matter only when something refers to them. */
export const applicators: ReadonlyMap<string, Applicator> = new Map<string, Applicator>([
  ['properties', { holds: 'map', repeats: false }],
  ['patternProperties', { holds: 'map', repeats: true }],
  ['additionalProperties', { holds: 'schema', repeats: true }],
  ['unevaluatedProperties', { holds: 'schema', repeats: true }],
  ['propertyNames', { holds: 'schema', repeats: true }],
  ['dependentSchemas', { holds: 'map', repeats: false }],
  ['items', { holds: 'schema', repeats: true }],
  ['prefixItems', { holds: 'list', repeats: false }],
  ['contains', { holds: 'schema', repeats: true }],
  ['unevaluatedItems', { holds: 'schema', repeats: true }],
  ['allOf', { holds: 'list', repeats: false }],
  ['anyOf', { holds: 'list', repeats: false }],
  ['oneOf', { holds: 'list', repeats: false }],
  ['not', { holds: 'schema', repeats: false }],
  ['if', { holds: 'schema', repeats: false }],
  ['then', { holds: 'schema', repeats: false }],
  ['else', { holds: 'schema', repeats: false }],
]);

/** Keywords that assert something about the value itself, with the check of their own shape. */
export const assertions: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: isType,
  enum: (value) => Array.isArray(value) && value.length > 0,
  const: () => true,
  multipleOf: (value) => typeof value === 'number' && value > 0,
  maximum: isNumber,
  exclusiveMaximum: isNumber,
  minimum: isNumber,
  exclusiveMinimum: isNumber,
  maxLength: isCount,
  minLength: isCount,
  pattern: (value) => typeof value === 'string',
  format: (value) => typeof value === 'string',
  maxItems: isCount,
  minItems: isCount,
  uniqueItems: (value) => typeof value === 'boolean',
  maxContains: isCount,
  minContains: isCount,
  maxProperties: isCount,
  minProperties: isCount,
  required: isNames,
  dependentRequired: (value) => isObject(value) && Object.values(value).every(isNames),
};

/** Keywords that would change what is accepted, and that are not supported: they are named in a warning. */
export const unsupportedKeywords: ReadonlySet<string> = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveRef',
  '$recursiveAnchor',
  '$data',
]);

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']);

function isType(value: unknown): boolean {
  if (typeof value === 'string') return typeNames.has(value);
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string' && typeNames.has(name));
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
