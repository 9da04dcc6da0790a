import { isObject } from '../../config/json-object.ts';
import { HotcellError } from '../../errors/hotcell-error.ts';
import type { JsonSchema } from '../../units/tool-manifest.ts';
import { describeManifestValue, invalidField, isFunctionMark } from './manifest-fields.ts';

const maxSchemaBytes = 64 * 1024;
const maxDepth = 32;
const mark = '$standardSchema';

/** Schemas of effect are functions that describe nothing by themselves. */
const effectFix =
  'Hand over the schema itself, not a function that makes it. A schema of effect becomes one with Schema.toStandardSchemaV1(SCHEMA), in its version 3 with Schema.standardSchemaV1(SCHEMA).';

/** Accepts every object. */
export const anyObject: JsonSchema = Object.freeze({ type: 'object' });

/** A declared schema as it may be used; `isOpen` when nothing can be said about the values. */
export interface DeclaredSchema {
  readonly schema: JsonSchema;
  readonly isOpen: boolean;
  /** A schema object of the plugin checks the values, inside the sandbox. */
  readonly isParsed: boolean;
  /** Schema objects stand inside it: they describe, and check nothing. */
  readonly hasParts?: boolean;
}

/**
 * Checks the schema of `parameters`: JSON Schema for an object, bounded in size and depth, with references only into
 * itself. Throws `manifest-invalid`.
 */
export function readParameters(value: unknown, path: string): DeclaredSchema {
  const declared = readSchema(value, path);
  const { schema, isParsed } = declared;
  if (declared.isOpen) return { schema: anyObject, isOpen: true, isParsed };
  if (schema.type === 'object') return declared;
  if (schema.type !== undefined) {
    throw invalidField(`${path}.type`, '"object", since arguments come as one object', schema.type);
  }
  const isShorthand = !Object.keys(schema).some((key) => schemaKeys.has(key)) && Object.keys(schema).length > 0;
  if (isShorthand) {
    throw new HotcellError('manifest-invalid', `"${path}" must be a JSON Schema, but looks like a plain list of properties.`, {
      facts: { key: path },
      fix: `Write ${path}: { type: "object", properties: { … }, required: [ … ] }.`,
    });
  }
  return { schema: { type: 'object', ...schema }, isOpen: Object.keys(schema).length === 0, isParsed };
}

/** Checks a schema of any type, as in `output`. Throws `manifest-invalid`. */
export function readSchema(value: unknown, path: string): DeclaredSchema {
  if (!isObject(value) || isFunctionMark(value)) {
    const fix = isFunctionMark(value) ? effectFix : undefined;
    throw invalidField(path, 'a JSON Schema or a Standard Schema object', value, fix);
  }
  if (value[mark] === true) {
    const { [mark]: _isMarked, ...described } = value;
    const { schema } = readSchema(described, path);
    return { schema, isOpen: Object.keys(schema).length === 0, isParsed: true };
  }
  const schema = withoutMarks(value);
  checkContent(schema, path, 0);
  if (schemaBytes(schema) > maxSchemaBytes) {
    throw new HotcellError('manifest-invalid', `"${path}" is larger than ${maxSchemaBytes / 1024} KB as JSON.`, {
      facts: { key: path },
      fix: 'Describe large data in words, and check it in the handler.',
    });
  }
  return { schema, isOpen: false, isParsed: false, ...(schema !== value && { hasParts: true }) };
}

/** Takes the marks of schema objects off a JSON Schema; the same object when there are none. */
function withoutMarks(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema);
  if (!text.includes(`"${mark}"`)) return schema;
  const plain: JsonSchema = JSON.parse(text, (key, value: unknown) => (key === mark ? undefined : value));
  return plain;
}

/** Whether an inferred schema is small enough to be handed to models. */
export function fitsSchemaBound(schema: JsonSchema): boolean {
  return schemaBytes(schema) <= maxSchemaBytes;
}

const schemaKeys: ReadonlySet<string> = new Set(
  '$ref $defs definitions $schema $id $comment title description properties required additionalProperties patternProperties allOf anyOf oneOf not if then else enum const minProperties maxProperties propertyNames dependentRequired dependentSchemas unevaluatedProperties default examples'.split(
    ' ',
  ),
);

function checkContent(value: unknown, path: string, depth: number): void {
  if (depth > maxDepth) {
    throw new HotcellError('manifest-invalid', `"${path.slice(0, 60)}…" is nested deeper than ${maxDepth} levels.`, {
      facts: { key: path.split('.')[0] },
      fix: 'Use a flatter schema.',
    });
  }
  if (Array.isArray(value)) {
    for (const item of value) checkContent(item, path, depth + 1);
    return;
  }
  if (!isObject(value)) return;
  if (isFunctionMark(value)) throw invalidField(path, 'plain JSON', value);
  if (value.$tooDeep === true || value.$cycle === true) throw invalidField(path, 'JSON without cycles', value);
  const { $ref: reference } = value;
  if (typeof reference === 'string' && !reference.startsWith('#')) {
    throw new HotcellError(
      'manifest-invalid',
      `"${path}.$ref" must point into the schema itself, but is ${describeManifestValue(reference)}.`,
      {
        facts: { key: `${path}.$ref` },
        fix: 'Put the schema under $defs and refer to it as "#/$defs/NAME".',
      },
    );
  }
  for (const [key, inner] of Object.entries(value)) checkContent(inner, `${path}.${key}`, depth + 1);
}

function schemaBytes(schema: JsonSchema): number {
  return Buffer.byteLength(JSON.stringify(schema));
}
