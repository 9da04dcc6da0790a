import { createHash } from 'node:crypto';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { BoundedMap } from '../../collections/bounded-map.ts';
import type { JsonSchema, ToolManifest } from '../../units/tool-manifest.ts';
import { createSchemaCompiler, type SchemaCompiler } from './compile-schema.ts';
import { explainErrors } from './explain-errors.ts';
import { createFuel, type Fuel, FuelExhausted } from './fuel.ts';
import { prepareSchema } from './prepare-schema.ts';
import type { SchemaIssue } from './schema-issue.ts';

/** Checks values against one schema. Nothing is coerced and nothing is filled in. */
export interface ValueValidator {
  /** What does not fit, at most eight issues; undefined when all fits. `jsonLength` is the length of the value as JSON. */
  findIssues(value: unknown, jsonLength: number): readonly SchemaIssue[] | undefined;
}

/** Keeps validators by the content of their schema, so that a reload with an unchanged schema compiles nothing. */
export interface ValidatorCache {
  validatorOf(schema: JsonSchema): ValueValidator;
}

const keptValidators = 2000;
/** A megabyte of JSON gets about five million units, some tens of milliseconds at worst. */
const baseFuel = 1_000_000;
const fuelPerCharacter = 4;
const explainFuel = 50_000;

const tooMuchWork: readonly SchemaIssue[] = [
  { path: '', expected: 'a value that can be checked in bounded time', got: 'one that is too large or too deep for this schema' },
];

/** What a manifest should say about a schema: what of it is not checked, and why. Compiles nothing. */
export function checkSchema(schema: unknown): { readonly warnings: readonly string[] } {
  const prepared = prepareSchema(schema);
  if (prepared !== undefined) return { warnings: prepared.warnings };
  return { warnings: ['The schema is not checked: it is too large to compile, or nested more than 64 deep.'] };
}

/** Creates an empty cache. */
export function createValidatorCache(): ValidatorCache {
  const fuel = createFuel();
  const compile = createSchemaCompiler(fuel);
  const bySchema = new WeakMap<JsonSchema, ValueValidator>();
  const byHash = new BoundedMap<string, ValueValidator>(keptValidators);
  return {
    validatorOf(schema) {
      const known = bySchema.get(schema);
      if (known !== undefined) return known;
      const hash = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
      const validator = byHash.get(hash) ?? createValidator(schema, compile, fuel);
      byHash.set(hash, validator);
      bySchema.set(schema, validator);
      return validator;
    },
  };
}

function createValidator(source: JsonSchema, compile: SchemaCompiler, fuel: Fuel): ValueValidator {
  const prepared = prepareSchema(source);
  if (prepared === undefined) return { findIssues: () => undefined };
  const validate = compileOnce(() => compile(prepared.schema, false));
  const explain = compileOnce(() => compile(prepared.schema, true));
  return {
    findIssues(value, jsonLength) {
      fuel.refill(baseFuel + fuelPerCharacter * jsonLength);
      try {
        if (validate()(value)) return undefined;
      } catch (error) {
        if (isTooMuchWork(error)) return tooMuchWork;
        throw error;
      }
      return explainFailure(value, validate(), explain, fuel);
    },
  };
}

/** Finds all errors with a little fuel of its own; when that does not do, the first error has to be enough. */
function explainFailure(value: unknown, failed: ValidateFunction, explain: () => ValidateFunction, fuel: Fuel): SchemaIssue[] {
  const first = failed.errors ?? [];
  fuel.refill(explainFuel);
  try {
    const validate = explain();
    if (!validate(value)) return explainErrors(validate.errors ?? []);
  } catch (error) {
    if (!isTooMuchWork(error)) throw error;
  }
  return explainErrors(first);
}

function isTooMuchWork(error: unknown): boolean {
  // A RangeError is a stack overflow: the value is nested deeper than a recursive schema can follow.
  return error instanceof FuelExhausted || error instanceof RangeError;
}

function compileOnce(compile: () => ValidateFunction): () => ValidateFunction {
  let compiled: ValidateFunction | undefined;
  return () => {
    compiled ??= compile();
    return compiled;
  };
}

/** What of the schemas of tools is not checked at a call, and why. */
export function listSchemaWarnings(tools: readonly ToolManifest[]): string[] {
  return tools.flatMap(({ name, input, output }) => [
    ...checkSchema(input).warnings.map((warning) => `${name}, parameters: ${warning}`),
    ...(output ? checkSchema(output).warnings.map((warning) => `${name}, output: ${warning}`) : []),
  ]);
}
