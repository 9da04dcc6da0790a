import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isObject } from '../../config/json-object.ts';
import { formatChecks } from '../../config/text-formats.ts';
import { canonicalJson } from '../canonical-json.ts';
import type { Fuel } from './fuel.ts';
import { createFuelledPattern } from './linear-pattern.ts';

/** Compiles prepared schemas. `explain` makes functions that find every error and say where, which are slower. */
export type SchemaCompiler = (schema: Readonly<Record<string, unknown>>, explain: boolean) => ValidateFunction;

/** ajv keeps the constants of everything that it ever compiled, so an instance is put away after this many schemas. */
const schemasPerInstance = 100;

/** Creates a compiler whose functions burn `fuel`. */
export function createSchemaCompiler(fuel: Fuel): SchemaCompiler {
  const instances = { explain: createInstance(fuel, true), plain: createInstance(fuel, false) };
  const used = { explain: 0, plain: 0 };
  return (schema, explain) => {
    const kind = explain ? 'explain' : 'plain';
    used[kind]++;
    if (used[kind] % schemasPerInstance === 0) instances[kind] = createInstance(fuel, explain);
    const validate = instances[kind].compile(schema);
    instances[kind].removeSchema(schema);
    return validate;
  };
}

function createInstance(fuel: Fuel, explain: boolean): Ajv2020 {
  const regExp = (pattern: string) => createFuelledPattern(pattern, fuel);
  const ajv = new Ajv2020({
    strict: false,
    allErrors: explain,
    verbose: explain,
    messages: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    // Inlining a reference wherever it is used lets twenty lines of schema become gigabytes of code.
    inlineRefs: false,
    ownProperties: true,
    logger: false,
    formats: { ...formatChecks },
    code: { regExp: Object.assign(regExp, { code: 'linearPattern' }) },
  });
  ajv.addKeyword({
    keyword: 'hotcellFuel',
    before: '$ref',
    errors: false,
    validate: (weight: unknown) => burn(fuel, Number(weight)),
  });
  ajv.addKeyword({
    keyword: 'hotcellKeys',
    type: 'object',
    before: 'maxProperties',
    errors: false,
    validate: (perKey: unknown, value: unknown) => burn(fuel, isObject(value) ? Number(perKey) * countKeys(value) : 1),
  });
  ajv.addKeyword({
    keyword: 'hotcellLength',
    type: 'string',
    errors: false,
    validate: (bounds: unknown, text: unknown) => isObject(bounds) && hasLength(bounds, String(text), fuel),
  });
  ajv.addKeyword({
    keyword: 'hotcellUnique',
    type: 'array',
    errors: false,
    validate: (_wanted: unknown, items: unknown) => !Array.isArray(items) || findTwins(items, fuel) === undefined,
  });
  return ajv;
}

function burn(fuel: Fuel, units: number): boolean {
  fuel.burn(units);
  return true;
}

function countKeys(value: object): number {
  let count = 0;
  for (const _key in value) count++;
  return count;
}

/** Characters are code points, as JSON Schema counts them; they are counted only when the UTF-16 length leaves it open. */
function hasLength(bounds: Readonly<Record<string, unknown>>, text: string, fuel: Fuel): boolean {
  const min = Number(bounds.minLength ?? 0);
  const max = Number(bounds.maxLength ?? Number.POSITIVE_INFINITY);
  if (text.length < min || text.length > max * 2) return false;
  if (text.length <= max && text.length >= min * 2) return true;
  fuel.burn(1 + text.length / 4);
  let characters = 0;
  for (const _character of text) characters++;
  return characters >= min && characters <= max;
}

/** The positions of two equal items, or undefined. Linear: items are compared as canonical text. */
function findTwins(items: readonly unknown[], fuel: Fuel): readonly [number, number] | undefined {
  const positions = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    // A prefix keeps texts of objects apart from strings that read the same.
    const key =
      typeof item === 'object' && item !== null ? `o${canonicalJson(item)}` : typeof item === 'string' ? `s${item}` : item;
    fuel.burn(2 + (typeof key === 'string' ? key.length / 8 : 0));
    const earlier = positions.get(key);
    if (earlier !== undefined) return [earlier, index];
    positions.set(key, index);
  }
  return undefined;
}
