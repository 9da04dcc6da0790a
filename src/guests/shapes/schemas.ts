/** The forms in which tool files describe arguments, brought to what a plugin's `parameters` may be. */
import { describeSchema } from '../cell/describe-schema.ts';
import type { StandardSchema } from '../cell/standard-schema.ts';
import { isRecord } from './late.ts';

type Json = Record<string, unknown>;

type Validate = NonNullable<StandardSchema['~standard']['validate']>;

interface Standard extends StandardSchema {
  readonly '~standard': StandardSchema['~standard'] & { readonly validate: Validate };
}

const schemaWords = ['type', 'properties', '$ref', 'anyOf', 'oneOf', 'allOf', '$schema', 'additionalProperties'];

/** The parameters that a schema of any known form stands for; undefined when it is none. */
export function toParameters(schema: unknown): unknown {
  if (isStandard(schema)) return schema;
  if (!isRecord(schema) || Array.isArray(schema)) return undefined;
  // ai's jsonSchema() and asSchema() wrap it.
  if (isRecord(schema.jsonSchema) && 'validate' in schema) return schema.jsonSchema;
  const entries = Object.entries(schema);
  if (entries.length > 0 && entries.every(([, value]) => isStandard(value))) return joinShape(entries as [string, Standard][]);
  if (entries.length === 0) return { type: 'object', properties: {} };
  if (schemaWords.some((word) => word in schema)) return schema;
  return entries.every(([, value]) => isPropertySchema(value)) ? fromProperties(entries) : undefined;
}

export function isStandard(value: unknown): value is Standard {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    '~standard' in value &&
    isRecord(value['~standard'])
  );
}

/** `{ city: z.string() }`: each property parses itself. */
function joinShape(entries: readonly (readonly [string, Standard])[]): unknown {
  return { '~standard': { version: 1, vendor: 'hotcell', validate, jsonSchema: { input: describe } } };

  async function validate(value: unknown): Promise<unknown> {
    const given: Json = isRecord(value) ? value : {};
    const parsed: Json = {};
    const issues: unknown[] = [];
    for (const [name, schema] of entries) {
      const result: unknown = await schema['~standard'].validate(given[name]);
      if (isRecord(result) && Array.isArray(result.issues)) {
        for (const issue of result.issues)
          issues.push(isRecord(issue) ? { ...issue, path: [name, ...listPath(issue.path)] } : issue);
      } else if (isRecord(result) && result.value !== undefined) parsed[name] = result.value;
    }
    return issues.length > 0 ? { issues } : { value: parsed };
  }

  function describe(): unknown {
    const properties: Json = {};
    const required: string[] = [];
    for (const [name, schema] of entries) {
      const { $schema: _, ...described } = describeOne(schema);
      properties[name] = described;
      if (!('default' in described) && !isOptional(schema)) required.push(name);
    }
    return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
  }
}

function listPath(path: unknown): unknown[] {
  return Array.isArray(path) ? path : [];
}

export function describeOne(schema: Standard): Json {
  const json = describeSchema(schema, 'input');
  return isRecord(json) ? (JSON.parse(JSON.stringify(json)) as Json) : {};
}

function isOptional(schema: Standard): boolean {
  const result: unknown = schema['~standard'].validate(undefined);
  return isRecord(result) && !(result instanceof Promise) && !Array.isArray(result.issues);
}

function isPropertySchema(value: unknown): value is Json {
  return isRecord(value) && (typeof value.type === 'string' || Array.isArray(value.enum));
}

/** `{ city: { type: 'string', required: true } }`. */
function fromProperties(entries: readonly (readonly [string, unknown])[]): unknown {
  const properties: Json = {};
  const required: string[] = [];
  for (const [name, value] of entries) {
    if (!isRecord(value)) continue;
    const { required: isRequired, optional, ...schema } = value;
    properties[name] = Array.isArray(isRequired) ? { ...schema, required: isRequired } : schema;
    if (isRequired === true || (isRequired === undefined && optional === false)) required.push(name);
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}
